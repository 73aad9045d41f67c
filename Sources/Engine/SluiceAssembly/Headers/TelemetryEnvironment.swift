import Glibc
import SluiceMessages
package import SluiceTraceContext

/// The settings of trace propagation in OpenTelemetry's variables ("Environment Variable Specification").
///
/// An empty variable counts as not set. Unknown words are ignored with a warning; words are case-insensitive.
package struct TelemetryEnvironment {
  private let read: (String) -> String?
  private let warn: (String) -> Void

  /// - Parameters:
  ///   - read: returns a variable; by default from the environment of the process.
  ///   - warn: called with a sentence for each ignored value.
  package init(read: @escaping (String) -> String? = Self.variable, warn: @escaping (String) -> Void) {
    self.read = read
    self.warn = warn
  }

  static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// `OTEL_PROPAGATORS`; nil if it names no known propagator. `none` means no propagator.
  var propagators: Propagators? {
    guard let text = value("OTEL_PROPAGATORS") else { return nil }
    var chosen = Propagators([])
    let words = text.split(separator: ",").map { Self.word($0) }.filter { !$0.isEmpty }
    if !words.isEmpty, words.allSatisfy({ $0 == "none" }) { return chosen }
    for word in words where !chosen.names.contains(word) {
      guard let propagator = Propagators.named(word) else {
        ignore("OTEL_PROPAGATORS", word, "expected \(Propagators.names.joined(separator: ", ")), or only none")
        continue
      }
      chosen.list.append(propagator)
    }
    return chosen.isEmpty ? nil : chosen
  }

  /// `OTEL_TRACES_SAMPLER` with `OTEL_TRACES_SAMPLER_ARG`; nil if they name no known sampler.
  var sampler: Sampler? {
    guard let text = value("OTEL_TRACES_SAMPLER") else { return nil }
    guard let kind = Sampler.Kind(rawValue: text.lowercased()) else {
      ignore("OTEL_TRACES_SAMPLER", text, "expected one of \(Sampler.names.joined(separator: ", "))")
      return nil
    }
    return Sampler(kind, ratio: kind.takesRatio ? ratio ?? 1 : 1)
  }

  private var ratio: Double? {
    guard let text = value("OTEL_TRACES_SAMPLER_ARG") else { return nil }
    guard let ratio = Double(text), (0...1).contains(ratio) else {
      ignore("OTEL_TRACES_SAMPLER_ARG", text, "expected a number from 0 to 1")
      return nil
    }
    return ratio
  }

  /// Whether `OTEL_SDK_DISABLED` is true. The variable does not affect propagators: the caller's trace is still passed
  /// on.
  var isDisabled: Bool {
    guard let text = value("OTEL_SDK_DISABLED") else { return false }
    switch text.lowercased() {
    case "true": return true
    case "false": return false
    default:
      ignore("OTEL_SDK_DISABLED", text, "expected true or false")
      return false
    }
  }

  /// `OTEL_SERVICE_NAME`.
  package var serviceName: String? { value("OTEL_SERVICE_NAME") }

  /// The value of a variable, with spaces removed at both ends; nil if nothing is left.
  func value(_ name: String) -> String? {
    read(name).map { Self.trimmed($0[...]) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  private func ignore(_ variable: String, _ value: String, _ expected: String) {
    warn("\(variable): \(PlainText.quote(value)) is unknown and is ignored; \(expected)")
  }

  private static func word(_ text: Substring) -> String { trimmed(text).lowercased() }

  private static func trimmed(_ text: Substring) -> String {
    let start = text.drop { $0 == " " || $0 == "\t" }
    let end = start.lastIndex { $0 != " " && $0 != "\t" }
    return end.map { String(start[...$0]) } ?? ""
  }
}

extension Propagators {
  /// The propagators that `OTEL_PROPAGATORS` names, or ``standard``.
  ///
  /// - Parameter warn: called with a sentence for each ignored name.
  package static func ofEnvironment(warn: (String) -> Void = { _ in }) -> Propagators {
    withoutActuallyEscaping(warn) { TelemetryEnvironment(warn: $0).propagators } ?? .standard
  }
}

extension EnvironmentCarrier {
  /// The environment variables of this process. Each is read when it is asked for.
  package static var process: EnvironmentCarrier { EnvironmentCarrier(TelemetryEnvironment.variable) }
}
