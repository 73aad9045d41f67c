extension StageRequest {
  /// The data of this instance for the transaction: set in one method and read in a later one, in all attempts, and
  /// released when the transaction ends. Each instance has its own.
  public var transactionData: (any Sendable)? {
    get { call.data }
    nonmutating set { call.attempt { () throws(StageFailure) in try call.setData(newValue) } }
  }
}
