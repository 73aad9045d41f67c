/// How much an engine takes at a time. What comes beyond that fails at once, so that a burst does not take all memory.
public struct EngineLimits: Sendable, Hashable {
  /// Transactions in flight, over all loops: submitted, and without a result. Beyond that `too_many_transactions`.
  public var transactions = 65_536
  /// Calls of BLOCKING stages under way, those included that wait for a thread. Beyond that `too_many_blocking_calls`.
  public var blockingCalls = 1_024

  public init() {}
}

extension Configuration {
  mutating func readLimits(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject(["transactions", "blockingCalls"])
    if let transactions = node["transactions"] { limits.transactions = try transactions.integer(1...1_000_000) }
    if let calls = node["blockingCalls"] { limits.blockingCalls = try calls.integer(1...1_000_000) }
  }
}
