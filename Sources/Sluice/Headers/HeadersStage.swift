import SluiceMessages
import SluicePipeline

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
    var traces = TraceSettings()
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
    var headers = HopHeaders(consume fields, existing: settings.existing)
    write(exchange, &headers)
    exchange.issueHeaders = headers.takeFields()
    return headers.conflict.map { .fail(Self.refusal($0)) } ?? .proceed
  }

  private func write(_ exchange: Exchange, _ headers: inout HopHeaders) {
    if !settings.traces.propagators.isEmpty {
      settings.traces.propagators.inject(settings.traces.trace(exchange), into: &headers)
    }
    if let name = settings.requestIDHeader {
      let requestID = exchange.requestID
      headers.place(name.span, requestID.utf8.span)
    }
    for field in settings.fields { headers.place(field.name.span, field.value.span, marks: field.marks) }
  }

  private static func refusal(_ name: String) -> StageFailure {
    StageFailure(
      code: "header_exists",
      message: "the request carries \"\(name)\" already, and config.existing is \"refuse\"; remove the header from the"
        + " request, or set existing to \"keep\" or \"replace\"")
  }
}
