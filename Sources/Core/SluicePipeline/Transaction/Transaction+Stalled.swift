import SluiceMessages

// Gives results to transactions whose loop does not return from a stage.
extension LoopEnvironment {
  /// Whether any transaction that has begun on this loop has no result yet. Any thread may read this.
  package var owesResults: Bool { answers.owesResults }

  /// Gives transactions their result in place of a loop that is blocked: each completion is called once, on this
  /// thread, and a later result of the loop is dropped. May be called on any thread except the loop's.
  ///
  /// - Parameters:
  ///   - now: ends only the transactions whose deadline has passed or that were cancelled; nil ends all.
  ///   - error: returns the error, given how long the transaction has been running.
  /// - Returns: the number of transactions that were ended.
  package func completeStalled(dueAt now: Instant?, _ error: (Duration) -> TransactionError) -> Int {
    let taken = answers.take(dueAt: now)
    countStalled(taken.count)
    for (transaction, isCancelled) in taken { transaction.completeFromOutside(isCancelled, error) }
    return taken.count
  }
}

extension Transaction {
  /// Runs on another thread than the loop's. It reads only what is never written after the transaction has begun, and
  /// the completion, which belongs to the thread that took the slot.
  fileprivate func completeFromOutside(_ isCancelled: Bool, _ error: (Duration) -> TransactionError) {
    let duration = loop.now.duration(since: started)
    var error = error(duration)
    if isCancelled {
      error = TransactionError(
        code: .cancelled, message: "the caller cancelled the transaction; \(error.message)")
    }
    let completion = takeCompletion()
    // If the stage returns later, the loop must stop working on the transaction.
    loop.post { [error] in self.run(.abort(error)) }
    completion?(TransactionResult(stalled: result, requestIDHeader: requestIDHeader, error, after: duration))
  }
}
