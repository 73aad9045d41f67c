package import SluiceMessages

/// A stage that only watches. Called on the loop of the transaction; must not block.
package protocol Tracer: AnyObject, Sendable {
  /// The kinds of events that the tracer gets. The value must not change. An event that no tracer wants is not created.
  var interests: TraceInterests { get }

  func record(_ event: TraceEvent)

  /// Like ``record(_:)``, for a tracer that may drop an event. Returns false if it dropped the event.
  func offer(_ event: TraceEvent) -> Bool
}

extension Tracer {
  package var interests: TraceInterests { .all }

  package func offer(_ event: TraceEvent) -> Bool {
    record(event)
    return true
  }
}

/// A set of kinds of events.
package struct TraceInterests: OptionSet, Sendable, Hashable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package init(_ kinds: TraceEvent.Kind...) { rawValue = kinds.reduce(0) { $0 | 1 << $1.rawValue } }

  package static let all = TraceInterests(rawValue: .max)

  @inline(__always)
  package func contains(_ kind: TraceEvent.Kind) -> Bool { rawValue >> kind.rawValue & 1 == 1 }
}

/// One entry of the ledger that the engine keeps for every transaction.
///
/// The events of a transaction come in order, from one thread at a time; each `willExecute` has one `didComplete`, and
/// `didIssue` always precedes its `didReceive`. Each hop that was begun has one `didEndHop`, even without a connection,
/// and the hop's `didReceive` comes before it.
package struct TraceEvent {
  package typealias Kind = TransactionEventKind

  package let kind: Kind
  /// Position among the events of the transaction, from 0. Events that the tracer does not get are counted too.
  package let sequence: Int
  package let time: Instant
  /// The exchange. Only read it, and only during the call.
  package let exchange: Exchange
  /// The status of the event's response; 0 without a response.
  package let status: Int
  /// The status of the hop's `didReceive` (0 if there was none), if it differs from ``status``; nil if both are the
  /// same. They differ if a stage has changed the response or answered itself, or if the head's `didReceive` was never
  /// reported.
  package let receivedStatus: Int?
  /// Set in `didComplete`; nil elsewhere.
  package let outcome: TransactionOutcome?
  /// The error of a failed `didComplete` or `didEndHop`, or the reason of a `willRetry`.
  package let error: TransactionError?
  /// The delay of a `willRetry`, the duration of the hop in `didEndHop`, or of the transaction in `didComplete`. Not a
  /// `Duration`, because converting one takes too long for a tracer.
  package let durationNanoseconds: UInt64
  /// The final timings of the event's hop. Set in events after the end of the transfer: in `didEndHop` and
  /// `didComplete`, and in a `didReceive` that waited for the body.
  package let finalTimings: TransferTimings?
  /// Stored separately, because a span is large and most events have none.
  var endedSpan: EndedSpan?

  package var duration: Duration { Duration(nanoseconds: durationNanoseconds) }

  /// Set in `didEndSpan`; nil elsewhere.
  package var span: StageSpan? { endedSpan?.span }

  /// Set in `didReceive`, `didEndHop` and `didComplete`, if there was a hop. If the body has not arrived yet, the
  /// timings have only the phases before it. Measured on access, so that a tracer pays only for what it uses. [loop]
  package var timings: TransferTimings? {
    finalTimings ?? (kind == .didReceive ? exchange.transaction?.transfer?.timings : nil)
  }
}

final class EndedSpan: Sendable {
  let span: StageSpan

  init(_ span: StageSpan) { self.span = span }
}
