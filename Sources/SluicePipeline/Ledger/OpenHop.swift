import SluiceMessages

/// The state of one hop in its log.
struct OpenHop: Sendable {
  let number: Int
  /// The earliest time at which the hop can have begun; its phases must fit into the time since then.
  var started: Instant
  /// The time of its `didIssue`; nil before it.
  var issued: Instant?
  /// Its place in a trace, from its `didIssue`.
  var trace: HopTraceContext?
  /// Its `didEndHop` has come.
  var isEnded = false
  /// Its `didEndHop` has an error.
  var hasFailed = false
  /// The status of its `didReceive`; 0 before that.
  var status = 0
  /// Its `willRedirect` has come.
  var isRedirected = false
  /// The server did not process its request, so the request can be sent again.
  var isRefused = false
  /// Its `didReceive` or its `didEndHop` had timings.
  var hasTimings = false

  init(_ number: Int, at started: Instant) {
    self.number = number
    self.started = started
  }

  var isIssued: Bool { issued != nil }

  var isAnswered: Bool { status != 0 }

  /// Whether the response is a redirect. A stage or a limit can still make the redirect the response.
  var mayRedirect: Bool { Redirect.isRedirect(status) }

  /// Whether another hop of the attempt can follow: a redirect was decided, credentials were demanded, or the request
  /// was not processed.
  var leadsOn: Bool { isRedirected || isRefused || isChallenged }

  /// Whether its head decided the next step, so that a later loss of the connection does not fail the attempt.
  var isDecidedByHead: Bool { mayRedirect || isChallenged }

  private var isChallenged: Bool { status == 401 || status == 407 }
}
