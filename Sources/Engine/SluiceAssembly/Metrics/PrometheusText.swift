import SluicePipeline
import SluicePluginHost

/// Writes samples, one on each line, for the metric that was begun last.
package struct PrometheusText {
  package typealias Labels = [(name: String, value: String)]

  package private(set) var text = ""
  /// The names that the samples of the metrics so far can have.
  private(set) var names: Set<String> = []
  /// Whether metrics without samples are begun too.
  var writesEmptyMetrics = false
  private var name = ""
  private let common: Labels

  /// - Parameter labels: added to each sample that has no label with that name.
  package init(labels: [String: String]) {
    common = labels.sorted { $0.key < $1.key }.reduce(into: []) { common, label in
      let name = PrometheusName.label(label.key)
      if !common.contains(where: { $0.name == name }) { common.append((name, label.value)) }
    }
  }

  mutating func begin(_ name: String, _ type: String, _ help: String) {
    self.name = name
    names.formUnion(PrometheusName.samples(of: name, type))
    text += "# HELP \(name) \(Self.escaped(help, isQuoted: false))\n# TYPE \(name) \(type)\n"
  }

  mutating func counter(_ name: String, _ help: String, _ value: UInt64) {
    begin(name, "counter", help)
    sample(value)
  }

  /// Writes which service these metrics belong to (OpenTelemetry, "Prometheus and OpenMetrics Compatibility", resource
  /// attributes).
  package mutating func target(_ attributes: Labels) {
    begin("target_info", "gauge", "The program to which these metrics belong.")
    sample(UInt64(1), attributes)
  }

  /// Quantiles in seconds, their sum and their number, under a metric of the type `summary`.
  mutating func summary(_ times: LatencySnapshot, _ labels: Labels = []) {
    for (quantile, nanoseconds) in [("0.5", times.p50), ("0.9", times.p90), ("0.99", times.p99)] {
      write("", labels + [("quantile", quantile)], "\(Double(nanoseconds) / 1e9)")
    }
    write("_sum", labels, "\(Double(times.sum) / 1e9)")
    write("_count", labels, "\(times.count)")
  }

  mutating func sample(_ value: UInt64, _ labels: Labels = []) { write("", labels, "\(value)") }

  /// A value that is finite.
  mutating func sample(_ value: Double, _ labels: Labels) { write("", labels, "\(value)") }

  /// Buckets are cumulative, and the last one counts all values.
  mutating func histogram(_ durations: DurationCounts, _ labels: Labels) {
    histogram(durations.counts, DurationCounts.bounds, sum: Double(durations.sumNanoseconds) / 1e9, labels)
  }

  mutating func histogram(_ counts: [UInt64], _ bounds: [Double], sum: Double, _ labels: Labels) {
    var total: UInt64 = 0
    for (index, count) in counts.enumerated() {
      total += count
      let bound = index < bounds.count ? "\(bounds[index])" : "+Inf"
      write("_bucket", labels + [("le", bound)], "\(total)")
    }
    write("_sum", labels, "\(sum)")
    write("_count", labels, "\(total)")
  }

  private mutating func write(_ suffix: String, _ labels: Labels, _ value: String) {
    let others = common.filter { other in !labels.contains { $0.name == other.name } }
    let pairs = (others + labels).map { "\($0.name)=\"\(Self.escaped($0.value, isQuoted: true))\"" }
      .joined(separator: ",")
    text += "\(name)\(suffix)\(pairs.isEmpty ? "" : "{\(pairs)}") \(value)\n"
  }

  /// Escapes what the format asks for: in quotes, that is the quote too.
  private static func escaped(_ value: String, isQuoted: Bool) -> String {
    var text = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\\": text += "\\\\"
      case "\"" where isQuoted: text += "\\\""
      case "\n": text += "\\n"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
