/// How much an engine handles at a time. Anything beyond a limit fails at once, so that a burst does not use up all memory.
public struct EngineLimits: Sendable, Hashable {
  /// Maximum number of transactions in flight on all loops together. A transaction is in flight from its submission
  /// until it has a result. One more transaction fails with `too_many_transactions`.
  public var transactions = 65_536
  /// Maximum number of calls of BLOCKING stages under way, including those that wait for a thread. One more call fails
  /// with `too_many_blocking_calls`.
  public var blockingCalls = 1_024

  /// The defaults: 65536 transactions and 1024 calls.
  package init() {}
}

extension Configuration {
  mutating func readLimits(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject(["transactions", "blockingCalls"])
    if let transactions = node["transactions"] { limits.transactions = try transactions.integer(1...1_000_000) }
    if let calls = node["blockingCalls"] { limits.blockingCalls = try calls.integer(1...1_000_000) }
  }
}
