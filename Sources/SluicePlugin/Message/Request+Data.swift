extension Request {
  /// What this instance keeps for the transaction: set in one method and read in a later one, over all attempts, and let go
  /// at the end, however that comes. Other instances have their own.
  public var transactionData: (any Sendable)? {
    get { call.data }
    nonmutating set { call.attempt { () throws(PluginFailure) in try call.setData(newValue) } }
  }
}
