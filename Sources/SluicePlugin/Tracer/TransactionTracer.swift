/// Watches transactions and changes nothing.
///
/// The events of one transaction come in order, from one thread at a time; every `willExecute` is balanced by one
/// `didComplete`. The method runs on the event loop within a time budget, or on a thread of its own where the
/// configuration says `"delivery": "queued"`; it must not block.
public protocol TransactionTracer: Sendable {
  func record(_ event: borrowing TransactionEvent)
}
