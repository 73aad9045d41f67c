import SluiceMessages

/// How far one hop has come in its log.
struct OpenHop: Sendable {
  let number: Int
  /// When it began, at the latest; its phases fit into the time since then.
  var started: Instant
  /// The time of its `didIssue`; nil before it.
  var issued: Instant?
  /// Where its `didIssue` says that it belongs in a trace.
  var trace: HopTraceContext?
  /// Its `didEndHop` has come.
  var isEnded = false
  /// Its `didEndHop` has an error.
  var hasFailed = false
  /// The status of its `didReceive`; 0 before that.
  var status = 0
  /// Its `willRedirect` has come.
  var isRedirected = false
  /// The server did not process its request, which may go out again.
  var isRefused = false
  /// Its `didReceive` or its `didEndHop` had timings.
  var hasTimings = false

  init(_ number: Int, at started: Instant) {
    self.number = number
    self.started = started
  }

  var isIssued: Bool { issued != nil }

  var isAnswered: Bool { status != 0 }

  /// Whether it redirects, unless a stage or a limit says that the redirect is the response.
  var mayRedirect: Bool { Redirect.isRedirect(status) }

  /// Whether another hop of the attempt can follow: a redirect was decided, credentials were demanded, or the request was not
  /// processed.
  var leadsOn: Bool { isRedirected || isRefused || isChallenged }

  /// Whether its head decided how to go on, so that a later loss of the connection need not fail the attempt.
  var isDecidedByHead: Bool { mayRedirect || isChallenged }

  private var isChallenged: Bool { status == 401 || status == 407 }
}
