import SluiceMessages

/// A point on the monotonic clock, in nanoseconds since an origin that is the same for the whole process.
@usableFromInline
package struct Instant: Sendable, Hashable, Comparable {
  @usableFromInline package var nanoseconds: UInt64

  @inlinable package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  package static let distantFuture = Instant(nanoseconds: .max)

  @inlinable package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The instant after a duration, at most ``distantFuture``; a negative duration counts as zero.
  package static func + (instant: Instant, duration: Duration) -> Instant {
    instant.advanced(byNanoseconds: duration.nanoseconds)
  }

  /// The instant after a number of nanoseconds, at most ``distantFuture``. Use it for constant durations: a `Duration`
  /// holds 128 bits of attoseconds, and converting it into nanoseconds takes longer than reading the clock.
  package func advanced(byNanoseconds count: UInt64) -> Instant {
    let (sum, overflows) = nanoseconds.addingReportingOverflow(count)
    return overflows ? .distantFuture : Instant(nanoseconds: sum)
  }

  /// The time from `earlier` to this instant; zero if `earlier` is later.
  package func duration(since earlier: Instant) -> Duration {
    Duration(nanoseconds: nanoseconds(since: earlier))
  }

  @inlinable package func nanoseconds(since earlier: Instant) -> UInt64 {
    nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
  }
}
