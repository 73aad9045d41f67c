import SluiceJSON

extension Configuration {
  mutating func readSwap(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject(
      ["generations", "generationBytes", "probation", "drain", "publish", "trial"] + CanarySettings.members)
    if let generations = node["generations"] { swap.generations = try generations.integer(1...1_000_000) }
    if let bytes = node["generationBytes"] { swap.generationBytes = try bytes.integer(0...(1 << 40)) }
    if let drain = node["drain"] { swap.drain = try drain.duration() }
    if let publish = node["publish"] { swap.publish = try publish.duration() }
    if let trial = node["trial"] { swap.trial = try trial.duration() }
    swap.canary = try CanarySettings.read(node)
    guard let node = node["probation"] else { return }
    try node.checkObject(["duration", "transactions"])
    var probation = SwapSettings.Probation()
    if let duration = node["duration"] { probation.duration = try duration.duration() }
    if let transactions = node["transactions"] { probation.transactions = try transactions.integer(1...1_000_000) }
    swap.probation = probation
  }
}
