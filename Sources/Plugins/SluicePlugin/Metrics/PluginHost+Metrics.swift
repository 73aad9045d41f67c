import CSluice
import Glibc

/// A counter of a plugin, shared by all threads without a lock.
///
/// A host without metrics accepts every definition and records nothing. A wrong number of labels, a value that is not a
/// number or a negative amount for a counter is not recorded; the host logs it.
public struct Counter: Sendable {
  let metric: Metric

  /// Adds an amount, for these values of its labels.
  public func add(_ amount: Double = 1, _ labels: String...) { metric.record(amount, labels) }
}

/// See ``Counter``.
public struct Gauge: Sendable {
  let metric: Metric

  /// Sets the current value, for these values of its labels.
  public func set(_ value: Double, _ labels: String...) { metric.record(value, labels) }
}

/// See ``Counter``.
public struct Histogram: Sendable {
  let metric: Metric

  /// Records a value, for these values of its labels.
  public func record(_ value: Double, _ labels: String...) { metric.record(value, labels) }

  /// Records a duration in seconds.
  public func record(_ duration: Duration, _ labels: String...) {
    metric.record(duration / .seconds(1), labels)
  }
}

// Metrics can be defined only in `init` of the plugin; the instance's name is put before the metric's name. Units are
// UCUM: `s`, `By`, `{request}`. Combinations of labels beyond `seriesLimit` are counted together; 0 means 100.
extension PluginHost {
  /// Defines a sum that only grows; only in `init` of the plugin. `unit` is UCUM; a `seriesLimit` of 0 means 100.
  /// - Throws: ``StageFailure`` if the host refuses the definition.
  public func counter(
    _ name: String, _ description: String = "", unit: String = "", labels: [String] = [], seriesLimit: UInt32 = 0
  ) throws -> Counter {
    Counter(metric: try define(SLUICE_METRIC_COUNTER, name, description, unit, labels, seriesLimit))
  }

  /// Defines a value that can rise and fall; only in `init` of the plugin. A `seriesLimit` of 0 means 100.
  /// - Throws: ``StageFailure`` if the host refuses the definition.
  public func gauge(
    _ name: String, _ description: String = "", unit: String = "", labels: [String] = [], seriesLimit: UInt32 = 0
  ) throws -> Gauge {
    Gauge(metric: try define(SLUICE_METRIC_GAUGE, name, description, unit, labels, seriesLimit))
  }

  /// - Parameter bounds: upper bounds, ascending; by default the bounds that OpenTelemetry recommends for seconds.
  public func histogram(
    _ name: String, _ description: String = "", unit: String = "s", labels: [String] = [], bounds: [Double] = [],
    seriesLimit: UInt32 = 0
  ) throws -> Histogram {
    Histogram(metric: try define(SLUICE_METRIC_HISTOGRAM, name, description, unit, labels, seriesLimit, bounds))
  }
}

/// The host's id of a metric.
struct Metric: Sendable {
  let link: HostLink
  /// Nil if the host has no metrics.
  let table: MetricTable?
  let number: sluice_metric
  let labelCount: Int

  func record(_ value: Double, _ labels: [String]) {
    guard let table else { return }
    guard labels.count == labelCount else {
      return link.log(.warning, "a metric with \(labelCount) labels was given \(labels.count); it is not recorded")
    }
    link.withHost { host in
      withTexts(labels) { _ = table.pointer.pointee.record(host, number, $0, value) }
    }
  }
}

/// Sendable: the table is constant, and used within `HostLink.withHost` only.
struct MetricTable: @unchecked Sendable {
  let pointer: UnsafePointer<sluice_metrics>
}

extension PluginHost {
  fileprivate func define(
    _ kind: some BinaryInteger, _ name: String, _ description: String, _ unit: String, _ labels: [String],
    _ limit: UInt32, _ bounds: [Double] = []
  ) throws -> Metric {
    let (link, host) = (link, link.current)
    guard let table = host.metrics else { return Metric(link: link, table: nil, number: 0, labelCount: labels.count) }
    var number: sluice_metric = 0
    let status = withDefinition(sluice_metric_kind(kind), name, description, unit, labels, limit, bounds) {
      table.pointee.define(host, $0, &number)
    }
    guard status == SLUICE_STATUS_OK else {
      throw StageFailure(
        message: "the host refuses the metric \"\(name)\" (status \(status)); its log says why")
    }
    return Metric(link: link, table: MetricTable(pointer: table), number: number, labelCount: labels.count)
  }
}

private func withDefinition(
  _ kind: sluice_metric_kind, _ name: String, _ description: String, _ unit: String, _ labels: [String],
  _ limit: UInt32, _ bounds: [Double], _ body: (UnsafePointer<sluice_metric_definition>) -> sluice_status
) -> sluice_status {
  let copies = labels.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  let names = copies.map { UnsafePointer($0) }
  return name.withCString { name in
    description.withCString { description in
      unit.withCString { unit in
        names.withUnsafeBufferPointer { names in
          bounds.withUnsafeBufferPointer { bounds in
            var definition = sluice_metric_definition()
            definition.size = UInt32(MemoryLayout<sluice_metric_definition>.size)
            definition.kind = kind
            definition.name = name
            definition.description = description
            definition.unit = unit
            definition.labels = names.baseAddress
            definition.label_count = UInt32(names.count)
            definition.series_limit = limit
            definition.bounds = bounds.isEmpty ? nil : bounds.baseAddress
            definition.bound_count = UInt32(bounds.count)
            return body(&definition)
          }
        }
      }
    }
  }
}

/// Lends strings as texts during the call.
private func withTexts(_ strings: [String], _ body: (UnsafePointer<sluice_text>?) -> Void) {
  if strings.isEmpty { return body(nil) }
  withUnsafeTemporaryAllocation(of: sluice_text.self, capacity: strings.count) { texts in
    texts.initialize(repeating: sluice_text())
    func lend(_ index: Int) {
      guard index < strings.count else { return body(texts.baseAddress.map { UnsafePointer($0) }) }
      withText(strings[index]) { text in
        texts[index] = text
        lend(index + 1)
      }
    }
    lend(0)
  }
}

extension PluginHost {
  /// Everything that the host has counted so far, including the metrics of other plugins (`sluice.reports/1`, a draft):
  /// the document of docs/metrics.md. Nil in a trial, while the engine starts, after it has ended, and in a host
  /// without such reports. Can be called from any thread. The host creates the whole document for each call.
  public func metricsReport() -> JSONValue? {
    let report: JSONValue?? = link.withHost { host in
      host.reports?.pointee.metrics(host).map { JSONValue(adopting: $0) }
    }
    return report ?? nil
  }
}
