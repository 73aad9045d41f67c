/// The state of running transactions: how many hops each has had, and the spans whose sampling is not known yet.
///
/// A span that ends before its trace is known is held back until the first hop. The hop may begin a trace, and only
/// then is it known whether that trace is sampled. If a transaction ends without a hop, its spans are exported.
package struct SpanBook<ID: Hashable & Sendable>: Sendable {
  /// The place in a trace, as an event reports it.
  package struct Place: Sendable, Hashable {
    /// Nil if no trace is known.
    package var traceID: String?
    package var isSampled: Bool

    package init(traceID: String?, isSampled: Bool) {
      self.traceID = traceID
      self.isSampled = isSampled
    }

    /// Unsampled spans are not exported.
    package var isExported: Bool { traceID == nil || isSampled }
  }

  private struct Transaction: Sendable {
    var hops = 0
    var waiting: [ExportedSpan] = []
  }

  private var transactions: [ID: Transaction] = [:]

  package init() {}

  /// The number of transactions for which there is a state.
  package var count: Int { transactions.count }

  /// Call it when a hop has ended.
  /// - Returns: the number of earlier hops, and the spans that waited for the place of this hop in the trace.
  package mutating func endHop(of id: ID, _ place: Place) -> (resendCount: Int, released: [ExportedSpan]) {
    let released = release(id, place)
    defer { transactions[id, default: Transaction()].hops += 1 }
    return (transactions[id]?.hops ?? 0, released)
  }

  /// Call it when a span of a stage has ended.
  /// - Returns: the span if it must be exported now.
  package mutating func endSpan(_ span: ExportedSpan, of id: ID, _ place: Place) -> ExportedSpan? {
    guard place.traceID == nil else { return place.isSampled ? span : nil }
    transactions[id, default: Transaction()].waiting.append(span)
    return nil
  }

  /// Call it when the transaction is over.
  /// - Returns: the spans that were still waiting and must be exported.
  package mutating func end(_ id: ID, _ place: Place) -> [ExportedSpan] {
    let released = release(id, place)
    transactions[id] = nil
    return released
  }

  private mutating func release(_ id: ID, _ place: Place) -> [ExportedSpan] {
    guard let waiting = transactions[id]?.waiting, !waiting.isEmpty else { return [] }
    transactions[id]?.waiting = []
    guard place.isExported else { return [] }
    return waiting.map { span in
      var span = span
      // The span was recorded before the trace was known; it belongs to the trace that the hop has sent.
      if let traceID = place.traceID { span.traceID = traceID }
      return span
    }
  }
}
