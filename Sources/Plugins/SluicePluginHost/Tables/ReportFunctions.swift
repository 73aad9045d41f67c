import CSluice
import SluiceJSON

/// The table `sluice.reports/1`.
enum ReportFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_reports> = {
    let table = UnsafeMutablePointer<sluice_reports>.allocate(capacity: 1)
    table.initialize(
      to: sluice_reports(
        size: UInt32(MemoryLayout<sluice_reports>.size), reserved: 0, metrics: { ReportFunctions.metrics($0) }))
    return UnsafePointer(table)
  }()

  private static func metrics(_ host: UnsafePointer<sluice_host>?) -> UnsafeMutablePointer<json_t>? {
    HostHandle.of(host)?.runtime?.metricsReport()?.retainedUnsafeJSON()
  }
}
