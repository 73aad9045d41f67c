import CSluice
import Glibc
import SluiceMessages

/// The checked definition of a metric that a plugin has defined in `create`.
package struct MetricDefinition: Sendable, Hashable {
  package enum Kind: String, Sendable { case counter, gauge, histogram }

  package let kind: Kind
  package let name: String
  /// The text of the plugin, which may have several lines.
  package let description: String
  /// The unit in UCUM; empty if the plugin gave none.
  package let unit: String
  package let labels: [String]
  /// The maximum number of label combinations that are counted separately.
  package let seriesLimit: Int
  /// The bounds of a histogram, ascending.
  package let bounds: [Double]
}

extension MetricDefinition {
  /// Whether a metric with this new definition keeps its numbers: everything except the description must be the same.
  func isContinued(by other: MetricDefinition) -> Bool {
    name == other.name && kind == other.kind && unit == other.unit && labels == other.labels && bounds == other.bounds
      && seriesLimit == other.seriesLimit
  }
}

/// Why a definition is refused.
struct MetricMistake: Error {
  let text: String
  init(_ text: String) { self.text = text }
}

extension MetricDefinition {
  static let maximumLabels = 16
  static let maximumSeries = 10_000
  static let maximumBounds = 200
  private static let defaultSeries = 100

  /// Checks and copies a definition that a plugin passed.
  init(_ pointer: UnsafePointer<sluice_metric_definition>) throws(MetricMistake) {
    let raw = try Self.whole(pointer)
    let kind = try Self.kind(raw.kind)
    self.kind = kind
    name = try Self.name(raw.name)
    description = try Self.text(raw.description, "description", limitBytes: 1024) ?? ""
    unit = try Self.unit(raw.unit)
    labels = try Self.labels(raw, kind)
    guard raw.series_limit <= Self.maximumSeries else {
      throw MetricMistake("a series_limit of \(raw.series_limit); at most \(Self.maximumSeries) are allowed")
    }
    seriesLimit = raw.series_limit == 0 ? Self.defaultSeries : Int(raw.series_limit)
    bounds = kind == .histogram ? try Self.bounds(raw) : []
  }

  /// Returns a copy of the plugin's structure. If it is shorter than the host's, the members that it lacks are zero.
  private static func whole(
    _ pointer: UnsafePointer<sluice_metric_definition>
  ) throws(MetricMistake) -> sluice_metric_definition {
    let size = UnsafeRawPointer(pointer).loadUnaligned(as: UInt32.self)
    guard size >= SLUICE_METRIC_DEFINITION_SIZE_1 else { throw MetricMistake("a definition of only \(size) bytes") }
    var copy = sluice_metric_definition()
    withUnsafeMutableBytes(of: &copy) { bytes in
      bytes.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(Int(size), bytes.count)))
    }
    return copy
  }

  private static func kind(_ number: sluice_metric_kind) throws(MetricMistake) -> Kind {
    switch Int(number) {
    case Int(SLUICE_METRIC_COUNTER): .counter
    case Int(SLUICE_METRIC_GAUGE): .gauge
    case Int(SLUICE_METRIC_HISTOGRAM): .histogram
    default: throw MetricMistake("the kind \(number)")
    }
  }

  private static func text(
    _ pointer: UnsafePointer<CChar>?, _ member: String, limitBytes: Int
  ) throws(MetricMistake) -> String? {
    guard let pointer else { return nil }
    guard strnlen(pointer, limitBytes + 1) <= limitBytes, let text = String(validatingCString: pointer) else {
      throw MetricMistake("a \(member) that is not UTF-8, or longer than \(limitBytes) bytes")
    }
    return text
  }

  private static func name(_ pointer: UnsafePointer<CChar>?) throws(MetricMistake) -> String {
    guard let name = try text(pointer, "name", limitBytes: 128), !name.isEmpty,
      name.utf8.allSatisfy(\.isMetricNameByte)
    else { throw MetricMistake("a name that is not made of letters, digits, '_' and '.'") }
    return name
  }

  private static func unit(_ pointer: UnsafePointer<CChar>?) throws(MetricMistake) -> String {
    let unit = try text(pointer, "unit", limitBytes: 63) ?? ""
    guard unit.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw MetricMistake("a unit that is not UCUM: printable ASCII without spaces")
    }
    return unit
  }

  /// Checks a label by the rules of Prometheus. It must not begin with a digit or two underscores, and must not be a
  /// label that the text format uses itself.
  private static func labels(
    _ raw: sluice_metric_definition, _ kind: Kind
  ) throws(MetricMistake) -> [String] {
    guard raw.label_count <= maximumLabels else { throw MetricMistake("more than \(maximumLabels) labels") }
    guard raw.label_count > 0 else { return [] }
    guard let names = raw.labels else { throw MetricMistake("labels without names") }
    var labels: [String] = []
    for index in 0..<Int(raw.label_count) {
      guard let label = try text(names[index], "label", limitBytes: 64), let first = label.utf8.first,
        label.utf8.allSatisfy(\.isMetricNameByte), !first.isDigit, !PrometheusName.label(label).hasPrefix("__"),
        !(kind == .histogram && label == "le")
      else { throw MetricMistake("an invalid name of a label") }
      labels.append(label)
    }
    guard Set(labels.map(PrometheusName.label)).count == labels.count else {
      throw MetricMistake("the same label twice")
    }
    return labels
  }

  private static func bounds(_ raw: sluice_metric_definition) throws(MetricMistake) -> [Double] {
    guard raw.bound_count <= maximumBounds else { throw MetricMistake("more than \(maximumBounds) bounds") }
    guard let pointer = raw.bounds else {
      guard raw.bound_count == 0 else { throw MetricMistake("bounds without values") }
      return PluginMetric.defaultBounds
    }
    let bounds = Array(UnsafeBufferPointer(start: pointer, count: Int(raw.bound_count)))
    guard bounds.allSatisfy(\.isFinite), zip(bounds, bounds.dropFirst()).allSatisfy({ $0 < $1 }) else {
      throw MetricMistake("bounds that do not ascend, or are not finite")
    }
    return bounds.isEmpty ? PluginMetric.defaultBounds : bounds
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  fileprivate var isMetricNameByte: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
      UInt8(ascii: "."):
      true
    default: isDigit
    }
  }
}
