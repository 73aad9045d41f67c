import SluiceMessages

/// Decides when a failed export is retried, by exponential back-off with jitter and a limit for the total time (OTLP
/// specification, "Retryable Response Codes", "OTLP/HTTP Throttling").
package struct RetrySchedule: Sendable, Hashable {
  /// The wait before the second attempt, before jitter.
  package var initial: Duration
  /// The longest wait between attempts.
  package var maximum: Duration
  /// The total time, counted from the first attempt; no attempt begins after it.
  package var total: Duration

  package init(initial: Duration = .seconds(1), maximum: Duration = .seconds(30), total: Duration = .seconds(60)) {
    self.initial = initial
    self.maximum = maximum
    self.total = total
  }

  /// Whether the collector may accept the same data later.
  package static func isRetryable(status: Int) -> Bool { [429, 502, 503, 504].contains(status) }

  /// The wait before the next attempt; nil if there is no further attempt.
  ///
  /// - Parameters:
  ///   - failures: the number of attempts so far, at least 1.
  ///   - elapsed: the time since the first attempt began.
  ///   - retryAfter: the wait that the collector asks for, which is never shortened.
  ///   - random: a number from 0 to 1, which places the wait between half of the back-off and all of it.
  package func delay(afterFailures failures: Int, elapsed: Duration, retryAfter: Duration?, random: Double) -> Duration?
  {
    var backOff = initial
    for _ in 1..<max(failures, 1) where backOff < maximum { backOff *= 2 }
    let wait = max(min(backOff, maximum) * (0.5 + 0.5 * min(max(random, 0), 1)), retryAfter ?? .zero)
    return elapsed + wait <= total ? wait : nil
  }

  /// The value of `Retry-After`, in seconds or as a date; nil if it is neither.
  ///
  /// - Parameter now: seconds since 1970.
  package static func retryAfter(_ text: String, now: Int64) -> Duration? {
    RetryAfter.delay(text, wallClock: .seconds(now), limitSeconds: limitSeconds)
  }

  /// The limit is about a year, so that no sum overflows.
  private static let limitSeconds: Int64 = 366 * 86_400
}
