/// Names in Prometheus' form, by OpenTelemetry's rules ("Prometheus and OpenMetrics Compatibility").
package enum PrometheusName {
  /// `.`, `-` and other characters that such a name cannot have become `_`.
  package static func label(_ name: String) -> String {
    String(decoding: name.utf8.map { $0.isNameByte ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
  }

  /// The instance's name, the metric's name, its unit in words, and `_total` for a counter; no part is repeated.
  package static func metric(_ instance: String, _ definition: MetricDefinition) -> String {
    var name = label("\(instance)_\(definition.name)")
    if let first = name.utf8.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) { name = "_" + name }
    let total = "_total"
    if definition.kind == .counter, name.hasSuffix(total) { name.removeLast(total.utf8.count) }
    if let unit = word(of: definition.unit), !name.hasSuffix("_" + unit) { name += "_" + unit }
    return definition.kind == .counter ? name + total : name
  }

  /// The names that the samples of a metric of this type can have, and the metric's own name.
  package static func samples(of name: String, _ type: String) -> [String] {
    switch type {
    case "histogram": ["", "_bucket", "_sum", "_count"].map { name + $0 }
    case "summary": ["", "_sum", "_count"].map { name + $0 }
    default: [name]
    }
  }

  /// The unit in words; nil if there is no unit, for the unit `1`, and for an annotation such as `{request}`.
  static func word(of unit: String) -> String? {
    var parts = unit.split(separator: "/", maxSplits: 1).map(String.init)
    if parts.isEmpty || parts.allSatisfy({ $0 == "1" || $0.hasPrefix("{") }) { return nil }
    let divisor = parts.count > 1 ? parts.removeLast() : nil
    let dividend = parts.first.flatMap { $0 == "1" || $0.hasPrefix("{") ? nil : words[$0] ?? label($0) }
    guard let divisor, !divisor.hasPrefix("{") else { return dividend }
    let per = "per_" + (singular[divisor] ?? label(divisor))
    return dividend.map { "\($0)_\(per)" } ?? per
  }

  private static let words = [
    "d": "days", "h": "hours", "min": "minutes", "s": "seconds", "ms": "milliseconds", "us": "microseconds",
    "ns": "nanoseconds", "By": "bytes", "kBy": "kilobytes", "MBy": "megabytes", "GBy": "gigabytes", "KiBy": "kibibytes",
    "MiBy": "mebibytes", "GiBy": "gibibytes", "%": "percent", "Hz": "hertz", "Cel": "celsius", "m": "meters",
    "g": "grams", "V": "volts", "A": "amperes", "J": "joules", "W": "watts",
  ]

  private static let singular = [
    "s": "second", "m": "minute", "min": "minute", "h": "hour", "d": "day", "w": "week", "mo": "month", "y": "year",
  ]
}

extension UInt8 {
  fileprivate var isNameByte: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
