extension Duration {
  /// Whole nanoseconds; 0 for a negative duration, `UInt64.max` for one that is too long.
  package var nanoseconds: UInt64 {
    // A longer duration does not fit into `components`.
    guard self <= .seconds(Int64.max) else { return .max }
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (scaled, isTooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isTooMuch) = scaled.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    return isTooLong || isTooMuch ? .max : sum
  }

  /// More than `Int64.max` nanoseconds, which are 292 years, become `Int64.max`.
  package init(nanoseconds: UInt64) { self = .nanoseconds(Int64(clamping: nanoseconds)) }
}
