import OTLPRules
import SluiceMessages
import SluicePlugin
import SluiceSupport

/// Turns events into spans and durations.
final class Recorder: Sendable {
  private let knownMethods: Set<String>
  private let secrets: Redactor
  private let exporter: Exporter
  private let book = Locked(SpanBook<TransactionID>())

  init(_ settings: ExportSettings, _ secrets: Redactor, _ exporter: Exporter) {
    knownMethods = settings.knownMethods
    self.secrets = secrets
    self.exporter = exporter
  }

  func record(_ event: borrowing TransactionEvent) {
    let place = SpanBook<TransactionID>.Place(traceID: event.traceID, isSampled: event.isSampled)
    switch event.kind {
    case .didEndHop: endHop(event, place)
    case .didEndSpan: endSpan(event, place)
    case .didComplete: complete(event, place)
    default: break
    }
  }

  private func endHop(_ event: borrowing TransactionEvent, _ place: SpanBook<TransactionID>.Place) {
    let id = event.transactionID
    let (resendCount, released) = book.withLock { $0.endHop(of: id, place) }
    for span in released { exporter.add(span) }
    let facts = facts(event, resendCount)
    let duration = event.duration
    exporter.record(.request, facts.metricAttributes(knownMethods: knownMethods), duration)
    guard place.isExported else { return }
    let end = Clock.unixNanoseconds(event.time)
    exporter.add(
      ExportedSpan(
        traceID: place.traceID ?? id.traceID, spanID: event.spanID ?? Self.newSpanID(),
        parentSpanID: event.parentSpanID, name: facts.name(knownMethods: knownMethods), kind: .client,
        start: end &- duration.nanoseconds, end: end,
        attributes: facts.spanAttributes(knownMethods: knownMethods, hiding: secrets), status: facts.spanStatus))
  }

  private func facts(_ event: borrowing TransactionEvent, _ resendCount: Int) -> HopFacts {
    let reason = event.reason
    var facts = HopFacts(
      method: event.method, url: event.url, status: event.status, errorCode: reason?.code.rawValue,
      errorMessage: reason?.message ?? "")
    facts.resendCount = resendCount
    if let connection = event.connection {
      facts.protocolVersion = connection.version?.rawValue
      facts.peerAddress = connection.peer?.host
      facts.peerPort = connection.peer.flatMap { $0.port == 0 ? nil : $0.port }
    }
    return facts
  }

  private func endSpan(_ event: borrowing TransactionEvent, _ place: SpanBook<TransactionID>.Place) {
    guard let ended = event.span else { return }
    let id = event.transactionID
    let span = ExportedSpan(ended)
    if let span = book.withLock({ $0.endSpan(span, of: id, place) }) { exporter.add(span) }
  }

  private func complete(_ event: borrowing TransactionEvent, _ place: SpanBook<TransactionID>.Place) {
    let id = event.transactionID
    for span in book.withLock({ $0.end(id, place) }) { exporter.add(span) }
    let method = event.method
    var attributes = [
      Attribute("http.request.method", knownMethods.contains(method) ? method : "_OTHER"),
      Attribute("sluice.outcome", event.outcome?.name ?? "unknown"),
    ]
    if let status = event.status { attributes.append(Attribute("http.response.status_code", .integer(Int64(status)))) }
    if let reason = event.reason { attributes.append(Attribute("error.type", reason.code.rawValue)) }
    exporter.record(.transaction, attributes, event.duration)
  }

  /// A span id for a hop that sent no `traceparent`.
  private static func newSpanID() -> String { TraceID.digits(of: .random(in: 1...(.max))) }
}

extension TransactionID {
  /// The id of the trace that the transaction begins.
  fileprivate var traceID: String { TraceID(high: high, low: low).description }
}

extension ExportedSpan {
  fileprivate init(_ span: EndedSpan) {
    self.init(
      traceID: span.traceID, spanID: span.spanID, parentSpanID: span.parentSpanID, name: span.name,
      kind: span.kind, start: Clock.unixNanoseconds(span.start),
      end: Clock.unixNanoseconds(span.end), attributes: [Attribute("sluice.stage", span.stage)],
      status: Status(code: span.status, message: span.statusMessage))
    if span.isUnfinished { attributes.append(Attribute("sluice.span.unfinished", .bool(true))) }
    attributes += span.attributes
    droppedAttributes = span.droppedAttributeCount
  }
}
