import Sluice
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Shows each hop on standard error: `>` for sent lines, `<` for received lines, `*` for events between them.
final class VerboseStage: Interceptor, Tracer {
  let capabilities: StageCapabilities = .issue
  private let mask: SecretMask
  /// The names of fields that stages have marked as secrets, in lower case. They are needed because the bytes of a sent
  /// head do not show which fields are secrets.
  private let marked = Locked<Set<String>>([])

  init(mask: SecretMask) { self.mask = mask }

  /// Adds itself to the transport and the pipeline of the configuration.
  func watch(_ configuration: inout Configuration) {
    configuration.transport.onSentHead = { [self] head in
      Self.write(">", SentHead(head, mask, hiding: marked.withLock { $0 }).lines)
    }
    configuration.addStage("send --verbose", StageCode(direct: self))
  }

  /// This stage runs as the last issue stage, so it sees the marks of all other stages.
  func interceptIssue(_ exchange: Exchange) -> Verdict {
    guard let headers = exchange.issueHeaders else { return .proceed }
    let names = headers.indices.filter { headers.marks(at: $0).contains(.sensitive) }
      .map { headers.name(at: $0).lowercased() }
    marked.withLock { $0.formUnion(names) }
    return .proceed
  }

  func record(_ event: TraceEvent) {
    switch event.kind {
    case .didConfigure:
      let request = event.exchange.requestForms.native
      Self.write("*", ["attempt \(event.exchange.attempt): \(request.method) \(mask.url(request.url))"])
    case .didReceive:
      guard let response = event.exchange.responseForms.native else { return }
      if let connection = event.exchange.connection { Self.write("*", ["\(connection)"]) }
      Self.write("<", [HeadText.statusLine(response)] + mask.lines(response.headers))
    case .willRetry: Self.write("*", ["retry: \(event.error?.description ?? "asked for by a stage")"])
    case .willRedirect: Self.write("*", ["redirect"])
    default: break
    }
  }

  private static func write(_ sign: String, _ lines: [String]) {
    StandardError.write(lines.map { "\(sign) \(PrintableText.of($0))\n" }.joined())
  }
}
