import SluiceMessages
import SluicePipeline
import SluiceTraceContext

/// The built-in `headers`: sets trace headers, a request id, a session id and fixed headers, only for listed hosts, at
/// the last moment before a hop is sent. docs/headers.md describes its configuration.
final class HeadersStage: Interceptor {
  /// A header whose value is the same in every hop.
  struct Field: Sendable {
    let name: [UInt8]
    let value: [UInt8]
    var marks: HeaderFields.Marks = .addedByStage
  }

  struct Settings: Sendable {
    var hosts = HostList()
    var traces = TraceSettings()
    /// If empty, no request id is sent.
    var requestIDHeader: [UInt8] = []
    /// If nil, no session id is sent.
    var session: (header: [UInt8], id: SessionID)?
    /// The fixed headers.
    var fields: [Field] = []
    var existing = ExistingHeaders.keep
    var signed = SignedRequests.skip
    /// The stage's name, and the secrets that it hides, for explanations.
    var name = "headers"
    var secrets = Redactor()
  }

  let capabilities: StageCapabilities = .issue
  let settings: Settings
  /// The propagators for hosts that get trace headers without baggage, and for hosts that get only baggage.
  private let traceAlone: Propagators
  private let baggageAlone: Propagators

  init(_ settings: Settings) {
    self.settings = settings
    traceAlone = Propagators(settings.traces.propagators.list.filter { !($0 is BaggagePropagator) })
    baggageAlone = Propagators(settings.traces.propagators.list.filter { $0 is BaggagePropagator })
  }

  func interceptIssue(_ exchange: Exchange) -> Verdict {
    if exchange.explanation != nil { return explainIssue(exchange) }
    let kinds = kinds(for: &exchange.requestForms.native.url)
    guard !kinds.isEmpty, let fields = exchange.issueHeaders.take() else { return .proceed }
    guard settings.signed == .inject || !Self.isSigned(fields, &exchange.requestForms.native.url) else {
      exchange.issueHeaders = consume fields
      return .proceed
    }
    var headers = HopHeaders(consume fields, existing: settings.existing)
    write(exchange, kinds, &headers)
    exchange.issueHeaders = headers.takeFields()
    return headers.conflict.map { .fail(Self.refusal($0)) } ?? .proceed
  }

  // The URL is read in place, because a copy would cost reference counting.
  private func kinds(for url: inout HTTPURL) -> HeaderKinds { settings.hosts.kinds(at: settings.hosts.place(of: url)) }

  private static func isSigned(_ fields: borrowing HeaderFields, _ url: inout HTTPURL) -> Bool {
    RequestSignature.of(fields, url) != nil
  }

  /// Writes the headers of those kinds.
  func write(_ exchange: Exchange, _ kinds: HeaderKinds, _ headers: inout some MarkingSink) {
    if kinds.isSuperset(of: [.trace, .baggage]) {
      write(settings.traces.propagators, exchange, &headers)
    } else if kinds.contains(.trace) {
      write(traceAlone, exchange, &headers)
    } else if kinds.contains(.baggage) {
      write(baggageAlone, exchange, &headers)
    }
    if kinds.contains(.requestID), !settings.requestIDHeader.isEmpty {
      let name = settings.requestIDHeader
      exchange.withRequestID { id in _ = headers.place(name.span, id) }
    }
    if kinds.contains(.sessionID), let session = settings.session { write(session, exchange, &headers) }
    guard kinds.contains(.fixed) else { return }
    for field in settings.fields { headers.place(field.name.span, field.value.span, marks: field.marks) }
  }

  private func write(
    _ session: (header: [UInt8], id: SessionID), _ exchange: Exchange, _ headers: inout some MarkingSink
  ) {
    switch session.id {
    case .fixed(let value): headers.place(session.header.span, value.span)
    case .rotating(let rotating):
      let id = rotating.use(at: exchange.loop.now).description
      headers.place(session.header.span, id.utf8.span)
    }
  }

  private func write(_ propagators: Propagators, _ exchange: Exchange, _ headers: inout some MarkingSink) {
    guard !propagators.isEmpty else { return }
    propagators.inject(settings.traces.span(exchange), of: exchange.parent, into: &headers)
  }

  static func refusal(_ name: String) -> StageFailure {
    StageFailure(
      code: "header_exists",
      message: "the request carries \"\(name)\" already, and config.existing is \"refuse\"; remove the header from the"
        + " request, or set existing to \"keep\" or \"replace\"")
  }
}
