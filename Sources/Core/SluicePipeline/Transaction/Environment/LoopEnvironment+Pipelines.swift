package import SluiceMessages

/// A transaction that has begun and not completed, and therefore keeps a pipeline.
package struct RunningTransaction: Sendable, Hashable {
  package let id: TransactionID
  /// The time since it began.
  package let age: Duration
  /// The stage that has suspended the transaction; nil if no stage has.
  package let suspendedIn: String?
}

extension LoopEnvironment {
  /// The transactions of this loop that run on a pipeline, the oldest first. [loop]
  package func transactions(on pipeline: Pipeline) -> [RunningTransaction] {
    let now = loop.now
    return running(on: pipeline).map { transaction in
      RunningTransaction(
        id: transaction.id, age: now.duration(since: transaction.started),
        suspendedIn: transaction.isSuspended ? transaction.calledStageName : nil)
    }.sorted { $0.age > $1.age }
  }

  /// Ends the suspensions of a pipeline's transactions as if their deadline had passed. [loop]
  /// - Parameter reason: replaces the text about the stage's own deadline.
  package func expireSuspensions(on pipeline: Pipeline, reason: String) {
    for transaction in running(on: pipeline) { transaction.expireSuspensions(reason) }
  }

  /// Ends the transactions of a pipeline as if their deadline had passed. [loop]
  package func passDeadlines(on pipeline: Pipeline) {
    for transaction in running(on: pipeline) { transaction.passDeadline() }
  }
}
