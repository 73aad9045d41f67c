import Sluice
import SluiceMessages
import SluicePipeline

/// Shows each hop on standard error: `>` what is sent, `<` what is received, `*` what happens between.
struct VerboseStage: Sendable {
  let mask: SecretMask

  /// The last issue stage sees the head as it goes out. It knows no exchange, so the first line comes from the tracer's
  /// event behind it.
  var code: StageCode {
    let mask = mask
    return StageCode(
      issue: { headers, context in
        let lines = ["\(context.method) \(context.path)"] + mask.lines(headers)
        Self.write(">", lines)
      },
      trace: { event in Self.record(event, mask) })
  }

  private static func record(_ event: TraceEvent, _ mask: SecretMask) {
    switch event.kind {
    case .didConfigure:
      let request = event.exchange.nativeRequest
      write(
        "*", ["attempt \(event.exchange.attempt): \(request.method) \(request.url.origin)\(mask.target(request.url))"])
    case .didReceive:
      guard let response = event.exchange.nativeResponse else { return }
      write("<", [HeadText.statusLine(response)] + mask.lines(response.headers))
    case .willRetry: write("*", ["retry: \(event.error?.description ?? "asked for by a stage")"])
    case .willRedirect: write("*", ["redirect"])
    default: break
    }
  }

  private static func write(_ sign: String, _ lines: [String]) {
    StandardError.write(lines.map { "\(sign) \(PrintableText.of($0))\n" }.joined())
  }
}
