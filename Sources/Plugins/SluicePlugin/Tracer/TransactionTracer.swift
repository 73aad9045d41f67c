/// Observes transactions and changes nothing.
///
/// The events of one transaction come in order, from one thread at a time; every `willExecute` has one `didComplete`.
/// The method runs on the event loop within a time limit, or on its own thread if the configuration says
/// `"delivery": "queued"`; it must not block.
public protocol TransactionTracer: Sendable {
  /// The kinds of events that the tracer gets; all by default. An event that no tracer wants is not created.
  static var interests: Set<TransactionEvent.Kind> { get }

  func record(_ event: borrowing TransactionEvent)
}

extension TransactionTracer {
  /// Every kind that this SDK knows; kinds of later hosts are not sent.
  public static var interests: Set<TransactionEvent.Kind> { Set(TransactionEvent.Kind.allCases) }
}
