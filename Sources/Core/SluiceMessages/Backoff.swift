/// Exponential back-off with full jitter: the delay before attempt n + 1 (counted from 0) is a random time between zero
/// and base × 2ⁿ, so that clients that failed at the same time do not retry at the same time.
public struct Backoff: Sendable, Hashable {
  /// The upper limit of the first delay; the limit doubles with each further attempt.
  public var base: Duration
  /// The largest upper limit of a delay; the limit does not grow beyond it.
  public var maximum: Duration
  /// Whether each delay is exactly its limit, instead of a random time below the limit. Meant for a program that sends
  /// one request.
  package var isExact = false

  /// By default the first delay is at most 100 milliseconds, and every delay at most 20 seconds.
  public init(base: Duration = .milliseconds(100), maximum: Duration = .seconds(20)) {
    self.base = base
    self.maximum = maximum
  }

  /// - Parameter attempt: the attempt that failed, counted from 0.
  package func delay(after attempt: Int, using random: inout some RandomNumberGenerator) -> Duration {
    let (base, maximum) = (base.nanoseconds, maximum.nanoseconds)
    let bound = attempt < 64 && base <= maximum >> UInt64(attempt) ? base << UInt64(attempt) : maximum
    if isExact { return .nanoseconds(Int64(clamping: bound)) }
    return .nanoseconds(Int64.random(in: 0...Int64(clamping: bound), using: &random))
  }
}
