import SluiceMessages

/// How far one hop has come in its log.
struct OpenHop: Sendable {
  let number: Int
  /// When it began, at the latest; its phases fit into the time since then.
  var started: Instant
  var isIssued = false
  /// The status of its `didReceive`; 0 before that.
  var status = 0
  /// Its `willRedirect` has come.
  var isRedirected = false
  /// The server did not process its request, which may go out again.
  var isRefused = false
  /// Its `didReceive` said where the time went.
  var hasTimings = false

  init(_ number: Int, at started: Instant) {
    self.number = number
    self.started = started
  }

  var isAnswered: Bool { status != 0 }

  /// Whether it redirects, unless a stage or a limit says that the redirect is the response.
  var mayRedirect: Bool { Redirect.isRedirect(status) }

  /// Whether another hop of the attempt can follow: a redirect was decided, credentials were demanded, or the request was not
  /// processed.
  var leadsOn: Bool { isRedirected || isRefused || status == 401 || status == 407 }
}
