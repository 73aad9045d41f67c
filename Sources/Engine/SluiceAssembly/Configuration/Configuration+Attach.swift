/// How a pipeline behaves inside programs under `sluice attach`.
public struct AttachSettings: Sendable, Hashable {
  /// Whether a transfer fails if the pipeline is not available in its process; otherwise the transfer continues without
  /// the pipeline, and is counted.
  public var failsWithoutPipeline = false
  /// Whether response stages are called. The program then gets nothing of a response before they have seen its head. If
  /// false, a configuration with response stages is refused.
  public var runsResponseStages = false

  /// The defaults: transfers continue without the pipeline, and response stages are not called.
  public init() {}
}

extension Configuration {
  mutating func readAttach(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject(["onMissing", "response"])
    if let response = node["response"] { try readResponse(response) }
    guard let missing = node["onMissing"] else { return }
    switch try missing.string() {
    case "pass": attach.failsWithoutPipeline = false
    case "fail": attach.failsWithoutPipeline = true
    default: throw missing.error("expected \"pass\" or \"fail\", found \(missing.value)")
    }
  }

  private mutating func readResponse(_ node: ConfigurationNode) throws(ConfigurationError) {
    switch try node.string() {
    case "direct": attach.runsResponseStages = false
    case "staged": attach.runsResponseStages = true
    default: throw node.error("expected \"direct\" or \"staged\", found \(node.value)")
    }
  }
}
