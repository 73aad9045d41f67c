/// The deadlines of a transaction that share its timer, besides that of the whole transaction. Calls for pieces of
/// bodies have their own, in ``BodyPassage``.
struct Deadlines {
  /// A deadline, in the order in which they are served if several are due.
  enum Kind: Sendable, Hashable {
    case stage, retry, attempt, idle
  }

  /// When the call that is suspended must have been resumed.
  var stage = Instant.distantFuture
  /// When the next attempt begins.
  var retry = Instant.distantFuture
  /// When the attempt fails.
  var attempt = Instant.distantFuture
  /// The nanoseconds left to the attempt while its clock is stopped; nil while it runs. ``attempt`` is then infinite.
  private var attemptRest: UInt64?
  /// When the hop fails if no byte is sent or received until then. It is updated lazily, see ``lastActivity``.
  var idle = Instant.distantFuture
  /// The last time at which a byte was sent or received, or the caller continued to read.
  var lastActivity = Instant.distantFuture

  var nearest: Instant { min(min(attempt, stage), min(retry, idle)) }

  /// The deadline to serve now; nil if none is due.
  func due(at now: Instant) -> Kind? {
    if stage <= now { return .stage }
    if retry <= now { return .retry }
    if attempt <= now { return .attempt }
    return idle <= now ? .idle : nil
  }

  /// Whether the clock of the attempt is stopped, while the transfer waits for a stage, the sink or the caller's stream.
  var isAttemptStopped: Bool { attemptRest != nil }

  /// Whether the transfer waits for a stage, the sink or the caller's stream.
  private(set) var isHeld = false

  /// Stops or continues the clock of the attempt. Does nothing to the clock of an attempt without a limit.
  mutating func runAttempt(_ isRunning: Bool, at now: Instant) {
    isHeld = !isRunning
    if isRunning, let rest = attemptRest.take() {
      attempt = now.advanced(byNanoseconds: rest)
    } else if !isRunning, attemptRest == nil, attempt != .distantFuture {
      attemptRest = attempt.nanoseconds(since: now)
      attempt = .distantFuture
    }
  }

  /// The transfer of the attempt needs no more time of the server.
  mutating func endAttempt() { (attempt, attemptRest) = (.distantFuture, nil) }
}
