import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Tells the supervisor what happens in the engine. Can be used on any thread.
final class EngineReporter: Sendable {
  private let channel: ByteOutput
  private let engine = Locked<Engine?>(nil)
  private let mask = Locked(SecretMask(RedactionSettings()))
  private let onPublished = Locked<Observer?>(nil)
  /// The numbers of the swaps that have been reported.
  private let told = Locked<Set<Int>>([])

  /// The function is in a structure because a generic container such as `Locked` would add a wrapper to a plain
  /// function on each access.
  private struct Observer {
    let handle: @Sendable (SwapReport) -> Void
  }

  init(_ channel: ByteOutput) { self.channel = channel }

  func adopt(_ engine: Engine) { self.engine.withLock { $0 = engine } }
  /// Sets the handler for published swaps. It is called after a swap has changed the serving snapshot and the swap's
  /// report was sent.
  func whenPublished(_ handler: @escaping @Sendable (SwapReport) -> Void) {
    onPublished.withLock { $0 = Observer(handle: handler) }
  }
  func adopt(_ redaction: RedactionSettings) { mask.withLock { $0 = SecretMask(redaction) } }

  func send(_ event: String, _ document: JSONValue = .object()) {
    document["event"] = JSONValue(event)
    guard let line = try? document.serialized() else { return }
    channel.append(line + [UInt8(ascii: "\n")])
  }

  func log(_ line: LogLine) {
    // Swaps are reported as documents, not as log lines. The engine adds the report to its history before it writes the
    // log line.
    if line.swap != nil {
      ProcessEnd.watch()
      Task.detached { [self] in await reportSwaps() }
      return
    }
    guard line.level >= .warning || (line.level == .info && line.stage != nil) else { return }
    let document: JSONValue = ["level": JSONValue("\(line.level)"), "message": JSONValue(line.message)]
    document["plugin"] = line.stage.map { JSONValue($0) }
    document["generation"] = line.generation.map { JSONValue(Int64($0)) }
    LogOutput.addSubject(of: line, to: document)
    send("log", document)
  }

  /// Sends the swap reports that have not been sent yet.
  func reportSwaps() async {
    guard let engine = engine.withLock({ $0 }) else { return }
    let status = await engine.status
    told.withLock { told in
      for report in status.history where told.insert(report.id).inserted {
        send(
          "swap",
          [
            "report": report.document(), "builds": Self.builds(status), "snapshot": JSONValue(Int64(status.snapshot)),
          ])
        if report.outcome == .published || report.outcome == .rolledBack {
          onPublished.withLock { $0 }?.handle(report)
        }
      }
    }
  }

  /// The builds that serve now.
  static func builds(_ status: EngineStatus) -> JSONValue {
    .array(
      of: status.generations.filter { $0.state == .active || $0.state == .probation }.map { generation in
        [
          "library": JSONValue(generation.library), "plugins": .array(of: generation.plugins),
          "version": JSONValue(generation.version), "hash": JSONValue(generation.hash),
          "generation": JSONValue(Int64(generation.id)),
        ]
      })
  }

  /// - Parameter line: nil for a request that came from a client.
  func report(_ result: TransactionResult, of line: TypedLine?) {
    let (url, path) = mask.withLock { mask in
      (mask.url(result.originalRequest.url), mask.target(result.originalRequest.url))
    }
    let document: JSONValue = [
      "method": JSONValue(result.originalRequest.method), "url": JSONValue(url), "path": JSONValue(path),
      "durationMs": .milliseconds(result.duration), "snapshot": JSONValue(Int64(result.snapshot)),
      "attempts": JSONValue(Int64(result.attempts)),
    ]
    line?.add(to: document)
    document["status"] = result.response.map { JSONValue(Int64($0.status)) }
    document["error"] = result.error.map { ResultDocument.Failure($0).document() }
    send("request", document)
  }

  /// Reports a line that is not a request.
  func refuse(_ message: String, of line: TypedLine?) {
    let document: JSONValue = [
      "error": ResultDocument.Failure(code: "invalid_request", message: message).document()
    ]
    line?.add(to: document)
    send("request", document)
  }

  /// Reports a request that was not sent because its client has gone away.
  func reportUnsent(_ method: String, _ target: String) {
    let url = try? HTTPURL("http://localhost\(target.hasPrefix("/") ? target : "/")")
    let path = url.map { url in mask.withLock { $0.target(url) } } ?? "/"
    let reason = "its client closed the connection while nothing served"
    log(LogLine(level: .warning, message: "\(method) \(path) was not sent: \(reason)"))
  }
}
