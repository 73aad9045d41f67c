import SluiceMessages
import SluiceTraceContext

extension TraceSettings {
  static let keys = ["propagators", "sampler", "sampledOnly", "disabled"]

  /// - Parameter environment: used for settings that the configuration does not have.
  init(_ node: ConfigurationNode, _ environment: TelemetryEnvironment) throws(ConfigurationError) {
    if let list = node["propagators"] {
      propagators = try Self.propagators(list)
    } else {
      propagators = environment.propagators ?? .standard
    }
    if let sampler = node["sampler"] {
      self.sampler = try Self.sampler(sampler)
    } else {
      sampler = environment.sampler ?? Sampler()
    }
    isSampledOnly = try node["sampledOnly"]?.bool() ?? false
    isDisabled = try node["disabled"]?.bool() ?? environment.isDisabled
  }

  private static func propagators(_ node: ConfigurationNode) throws(ConfigurationError) -> Propagators {
    var chosen = Propagators([])
    for element in try node.elements() {
      let name = try element.string()
      guard let propagator = Propagators.named(name) else {
        throw element.error(
          "no propagator is named \(PlainText.quote(name)); there are \(Propagators.names.joined(separator: ", "))")
      }
      guard !chosen.names.contains(name) else {
        throw element.error("\"\(name)\" occurs twice", advice: "keep one of them")
      }
      chosen.list.append(propagator)
    }
    return chosen
  }

  private static func sampler(_ node: ConfigurationNode) throws(ConfigurationError) -> Sampler {
    try node.checkObject(["type", "ratio"])
    guard let type = node["type"] else {
      throw node.error("\"type\" is missing", advice: "one of \(Sampler.names.joined(separator: ", "))")
    }
    let kind = try type.word(Sampler.Kind.self)
    guard kind.takesRatio else {
      if let ratio = node["ratio"] {
        throw ratio.error(
          "\"\(kind.rawValue)\" takes no ratio", advice: "leave it out, or take a sampler with traceidratio")
      }
      return Sampler(kind)
    }
    guard let ratio = node["ratio"] else {
      throw node.error("\"ratio\" is missing; it is the share of traces to sample", advice: "a number from 0 to 1")
    }
    return Sampler(kind, ratio: try ratio.number(0...1))
  }
}

extension Sampler {
  static var names: [String] { Kind.allCases.map(\.rawValue) }
}
