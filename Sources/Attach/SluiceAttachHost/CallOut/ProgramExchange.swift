import CAttachABI
import SluiceAttachRules
import SluiceMessages
import SluicePipeline

/// A call-out in the form that the preloaded library takes, with the memory that the form borrows.
///
/// Unchecked: everything is constant after `init`, except for the flag, which C reads and writes atomically.
final class ProgramExchange: @unchecked Sendable {
  /// The time limit of an exchange. It is normally not reached, because the call-out has its own time limit, which ends
  /// the exchange earlier.
  private static let limitMilliseconds: Int64 = 60 * 60 * 1000

  private var texts = TextMemory()
  private var lines = TextMemory()
  private let flag = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
  private var form = sluice_attach_exchange()

  /// - Throws: if the body is not in memory.
  init(_ request: borrowing Request, _ options: TransferOptions, _ settings: TransportSettings) throws(TransportError) {
    flag.initialize(to: 0)
    guard let body = request.body.bytes else {
      throw TransportError(.bodyFile, "a call-out can send only a body in memory", to: request.url)
    }
    let lines = Self.lines(request.headers, hasBody: !body.isEmpty, agent: settings.userAgent)
    let tls = settings.tls
    let held = texts.hold([
      Array(request.method.utf8), Array(request.url.stringWithoutFragment.utf8), body, Array((tls.ca ?? "").utf8),
      Array((tls.certificate ?? "").utf8), Array((tls.key ?? "").utf8),
    ])
    form = sluice_attach_exchange(
      method: held[0], url: held[1], lines: self.lines.hold(lines), line_count: lines.count,
      has_content: !body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method), content: held[2],
      authorities: held[3], certificate: held[4], key: held[5], verifies: tls.verify,
      limit_milliseconds: Self.limitMilliseconds, limit_bytes: options.maximumResponseBytes, stop: flag)
  }

  deinit { flag.deallocate() }

  /// The header lines of the call-out. They also suppress the fields that libcurl would add to the plugin's request.
  private static func lines(_ headers: HeaderFields, hasBody: Bool, agent: String?) -> LineText {
    var fields = HeaderFields()
    for (name, value) in headers where !FieldSyntax.isTransportField(name.utf8.span) { fields.append(name, value) }
    if let agent, !agent.isEmpty, !fields.contains("user-agent") { fields.append("User-Agent", agent) }
    var lines = HeaderLines().lines(for: fields) ?? LineText()
    if hasBody, !fields.contains("content-type") { lines.append("Content-Type:") }
    if !fields.contains("expect") { lines.append("Expect:") }
    return lines
  }

  /// Blocks until the exchange has ended.
  func run(with program: ProgramFunctions) -> ProgramFunctions.Exchanged {
    var form = form
    return program.exchange(&form)
  }

  /// Makes ``run(with:)`` return soon. From any thread.
  func stop() { sluice_attach_stop(flag) }
}
