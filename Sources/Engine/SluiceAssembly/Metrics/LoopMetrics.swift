import SluiceMessages
import SluicePipeline

/// The counts of the built-in `metrics` on one loop: written by the loop's thread without lock or allocation, readable
/// from any thread.
///
/// Unchecked because of `issueTimes`, which only the loop's thread uses: ``record(_:)`` is called only there.
final class LoopMetrics: @unchecked Sendable {
  private let timeToHead = LatencyHistogram()
  private let headHistogram = DurationHistogram()
  /// By method, then by status.
  private let series: InlineArray<48, DurationHistogram>
  // Unchecked, because the run-time check would cost as much as the access. It is safe: no method of this class calls
  // other code during an access.
  @exclusivity(unchecked) private var issueTimes = IssueTimes()

  init() { series = InlineArray { _ in DurationHistogram() } }

  private static func place(_ method: MethodClass, _ status: StatusClass) -> Int {
    method.rawValue * 6 + status.rawValue
  }

  /// Counts one event. [loop]
  func record(_ event: TraceEvent) {
    switch event.kind {
    case .didIssue: issueTimes.set(event.time, for: event.exchange.id)
    case .didReceive: didReceive(event)
    case .didComplete: didComplete(event)
    default: break
    }
  }

  private func didReceive(_ event: TraceEvent) {
    guard let issued = issueTimes.remove(event.exchange.id) else { return }
    var nanoseconds = event.time.nanoseconds &- issued.nanoseconds
    // If the response stages wait for the body, `did_receive` comes after the body. So the time for the body is
    // subtracted.
    if let receive = event.finalTimings?.receive { nanoseconds -= min(nanoseconds, receive.nanoseconds) }
    timeToHead.record(nanoseconds: nanoseconds)
    headHistogram.record(nanoseconds: nanoseconds)
  }

  private func didComplete(_ event: TraceEvent) {
    _ = issueTimes.remove(event.exchange.id)
    let nanoseconds = event.time.nanoseconds &- event.exchange.started.nanoseconds
    let method = MethodClass(method: event.exchange.requestForms.native.method)
    series[Self.place(method, StatusClass(status: event.status))].record(nanoseconds: nanoseconds)
  }
}

// Reading. [any]
extension LoopMetrics {
  /// Adds the counts of this loop. Related counts can differ by one event while the loop works.
  func add(to report: inout MetricsReport) {
    report.timeToHead.merge(timeToHead.snapshot())
    report.timeToHeadCounts.merge(headHistogram.snapshot())
    for method in MethodClass.allCases {
      for status in StatusClass.allCases {
        report.add(method, status, series[Self.place(method, status)].snapshot())
      }
    }
  }
}
