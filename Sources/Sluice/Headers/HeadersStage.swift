import SluiceMessages
import SluicePipeline
import SluiceTraceContext

/// The built-in `headers`: sets trace headers, request id, session id and fixed headers at the last moment before bytes
/// leave, in every hop to a listed host and in no other. docs/headers.md describes its configuration.
final class HeadersStage: Interceptor {
  /// A header whose value is the same in every hop.
  struct Field: Sendable {
    let name: [UInt8]
    let value: [UInt8]
    var marks: HeaderFields.Marks = .addedByStage
  }

  struct Settings: Sendable {
    var hosts = HostList()
    var propagators = Propagators([])
    /// Nil sends no request id.
    var requestIDHeader: [UInt8]?
    /// The session id, then the fixed headers.
    var fields: [Field] = []
    var existing = ExistingHeaders.keep
  }

  let capabilities: StageCapabilities = .issue
  private let settings: Settings

  init(_ settings: Settings) { self.settings = settings }

  func interceptIssue(_ exchange: Exchange) -> Verdict {
    guard settings.hosts.contains(exchange.nativeRequest.url.origin), let fields = exchange.issueHeaders.take() else {
      return .proceed
    }
    var headers = HopHeaders(fields, existing: settings.existing)
    write(exchange, &headers)
    exchange.issueHeaders = headers.fields
    return headers.conflict.map { .fail(Self.refusal($0)) } ?? .proceed
  }

  private func write(_ exchange: Exchange, _ headers: inout HopHeaders) {
    if !settings.propagators.isEmpty {
      settings.propagators.inject(trace(exchange), into: &headers)
    }
    if let name = settings.requestIDHeader {
      let requestID = exchange.requestID
      headers.place(name.span, requestID.utf8.span)
    }
    for field in settings.fields { headers.place(field.name.span, field.value.span, marks: field.marks) }
  }

  /// The transaction's id is the id of a trace that it begins: it is the same over all attempts and hops without being kept
  /// anywhere, and its right seven bytes are random.
  private func trace(_ exchange: Exchange) -> HopTrace {
    var spanID: UInt64 = 0
    while spanID == 0 { spanID = exchange.loop.random.next() }
    let traceID = TraceID(high: exchange.id.high, low: exchange.id.low)
    return HopTrace(exchange.parent, newTraceID: traceID, spanID: spanID)
  }

  private static func refusal(_ name: String) -> StageFailure {
    StageFailure(
      code: "header_exists",
      message: "the request carries \"\(name)\" already, and config.existing is \"refuse\"; remove the header from the"
        + " request, or set existing to \"keep\" or \"replace\"")
  }
}
