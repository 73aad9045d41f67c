import CSluice

/// The table `sluice.metrics/1`.
enum MetricFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_metrics> = {
    let table = UnsafeMutablePointer<sluice_metrics>.allocate(capacity: 1)
    table.initialize(
      to: sluice_metrics(
        size: UInt32(MemoryLayout<sluice_metrics>.size), reserved: 0,
        define: { MetricFunctions.define($0, $1, $2) }, record: { MetricFunctions.record($0, $1, $2, $3) }))
    return UnsafePointer(table)
  }()

  private static func define(
    _ host: UnsafePointer<sluice_host>?, _ definition: UnsafePointer<sluice_metric_definition>?,
    _ metric: UnsafeMutablePointer<sluice_metric>?
  ) -> sluice_status {
    guard let handle = HostHandle.of(host) else { return Status.closing }
    if handle.metrics.isFrozen { return late(handle) }
    guard let definition, let metric else {
      return invalid(handle, "a metric: the definition or the pointer for the metric is NULL")
    }
    let checked: MetricDefinition
    do { checked = try MetricDefinition(definition) } catch { return invalid(handle, "a metric with \(error.text)") }
    switch handle.metrics.define(checked, of: handle.name) {
    case .success(let number):
      metric.pointee = number
      return Status.ok
    case .failure(.frozen): return late(handle)
    case .failure(.twice): return invalid(handle, "the metric \"\(checked.name)\" twice")
    case .failure(.tooMany):
      handle.log(.warning, "defines more than \(MetricDraft.maximumMetrics) metrics; the rest is refused")
      return Status.limit
    }
  }

  private static func record(
    _ host: UnsafePointer<sluice_host>?, _ metric: sluice_metric, _ labels: UnsafePointer<sluice_text>?, _ value: Double
  ) -> sluice_status {
    guard let handle = HostHandle.of(host) else { return Status.closing }
    // While `create` runs, there is no instance yet, so the handle's draft has the metrics. Only one thread runs
    // `create`.
    let metrics = handle.instance?.metrics ?? (handle.metrics.isFrozen ? nil : handle.metrics.metrics)
    guard let metrics else { return Status.closing }
    guard metric > 0, metric <= metrics.count else { return invalid(handle, "the unknown metric \(metric)") }
    switch metrics[Int(metric) - 1].record(labels, value) {
    case .recorded: return Status.ok
    case .invalid(let reason): return invalid(handle, reason)
    }
  }

  private static func late(_ handle: HostHandle) -> sluice_status {
    handle.report(.lateDefinition)
    return Status.refused
  }

  private static func invalid(_ handle: HostHandle, _ reason: String) -> sluice_status {
    handle.report(.invalidArgument, reason)
    return Status.invalid
  }
}
