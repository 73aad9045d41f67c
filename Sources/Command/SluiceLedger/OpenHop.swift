import SluiceMessages
import SluicePipeline

/// What the events so far say about the current hop of a transaction.
struct OpenHop: Sendable {
  let number: Int
  /// The earliest time at which the hop can have begun; its phases must fit into the time since then.
  var started: Instant
  /// The time of the hop's `didIssue`; nil before this event.
  var issued: Instant?
  /// The hop's place in a trace, from the hop's `didIssue`.
  var trace: HopTraceContext?
  /// Whether the hop's `didEndHop` has come.
  var isEnded = false
  /// Whether the hop's `didEndHop` has an error.
  var hasFailed = false
  /// The status of the hop's `didReceive`; 0 before this event.
  var status = 0
  /// Whether the hop's `willRedirect` has come.
  var isRedirected = false
  /// Whether the server did not process the hop's request, so that the request can be sent again.
  var isRefused = false
  /// Whether the last of the hop's events `didReceive` and `didEndHop` had timings.
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

  /// Whether the hop's head decided the next step, so that a later loss of the connection does not fail the attempt.
  var isDecidedByHead: Bool { mayRedirect || isChallenged }

  private var isChallenged: Bool { status == 401 || status == 407 }
}
