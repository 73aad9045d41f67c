/// How a pipeline behaves inside programs under `sluice attach`.
public struct AttachSettings: Sendable, Hashable {
  /// Whether a transfer fails if the pipeline is not available in its process; otherwise it goes on without, and is
  /// counted.
  public var failsWithoutPipeline = false

  /// Transfers go on.
  public init() {}
}

extension Configuration {
  mutating func readAttach(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject(["onMissing"])
    guard let missing = node["onMissing"] else { return }
    switch try missing.string() {
    case "pass": attach.failsWithoutPipeline = false
    case "fail": attach.failsWithoutPipeline = true
    default: throw missing.error("expected \"pass\" or \"fail\", found \(missing.value)")
    }
  }
}
