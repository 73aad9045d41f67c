import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceServer

/// A local endpoint. It sends requests through the pipeline to `transport.baseURL`, and returns the responses to the
/// client.
final class DevListener: Sendable {
  /// Fields that are not forwarded, because the sender of each message sets them itself. Fields that apply to one
  /// connection are not forwarded either.
  private static let ownFields: Set<String> = ["host", "content-length", "expect", "accept-encoding"]

  /// The memory for the head of a request, and for the fields that stages add to a response.
  private static let ownMemoryBytes = 64 << 10

  private let server: EmbeddedServer

  /// - Parameter place: `HOST:PORT` of the supervisor's socket.
  init(
    _ place: String, _ engine: Engine, _ reporter: EngineReporter, _ recordings: EngineRecordings
  ) throws(CommandError) {
    guard engine.baseURL != nil else {
      throw CommandError(.usage, "--listen needs \"transport.baseURL\" in the configuration: that is where requests go")
    }
    let notices = ClientNotices(owning: ClientNotices.inheritedDescriptor)
    guard case .address(let host, _)? = ServeSettings.Listener(place)?.place, let listener = notices.takeListener()
    else { throw CommandError(.failed, "--listen: the supervisor has passed no socket for \"\(place)\"") }
    var options = ServerOptions()
    // Each head that the engine accepts from a server has room beside the head of a request.
    options.connectionMemoryBytes =
      2 * engine.configuration.transport.responseLimits.maximumHeadBytes
      + Self.ownMemoryBytes
    let clients = WaitingClients()
    do {
      server = try EmbeddedServer(accepting: listener, options: options) { request in
        Self.respond(to: request, named: host, engine, reporter, recordings, notices, clients)
      }
    } catch { throw CommandError(.usage, "--listen: \(error)") }
  }

  func stopAccepting() { server.stopAccepting() }

  func stop() { server.stop() }

  private static func respond(
    to incoming: ServerRequest, named host: String, _ engine: Engine, _ reporter: EngineReporter,
    _ recordings: EngineRecordings, _ notices: ClientNotices, _ clients: WaitingClients
  ) -> ServerResponse {
    guard incoming.target.hasPrefix("/"), let base = engine.baseURL else {
      return .text("this is not a proxy: send a path, which is resolved against transport.baseURL\n", status: 400)
    }
    guard HostField.isLocal(incoming.headers.first("Host") ?? "", servedAs: host) else {
      return .text("the field Host names another machine\n", status: 421)
    }
    let request: Request
    do {
      var made = Request(
        method: incoming.method, url: try HTTPURL("\(base.origin)\(incoming.target)"), body: .bytes(incoming.body))
      let named = connectionFields(incoming.headers.values(of: "Connection"))
      for line in incoming.headers
      where !isOwn(line.name) && !named.contains(line.name.lowercased()) {
        made.headers.append(line.name.utf8.span, line.valueBytes.span)
      }
      if incoming.body.isEmpty { made.body = .empty }
      made.wantsRecording = true
      request = made
    } catch { return .text("\(error)\n", status: 400) }
    guard !clients.isAbandoned(incoming.descriptor) else {
      reporter.reportUnsent(request)
      // Nobody reads this response.
      return .text("the client has closed the connection\n", status: 408)
    }
    let isHead = incoming.method == "HEAD"
    let id = notices.began(incoming.descriptor, isHead: isHead)
    return .deferred { promise in
      engine.submit(request) { result in
        recordings.note(result.recording, isOfSet: false)
        reporter.report(result, of: nil)
        let response = response(to: result, isHead: isHead)
        notices.answered(id)
        promise.complete(with: response)
      }
    }
  }

  private static func isOwn(_ name: String) -> Bool {
    FieldSyntax.isHopByHop(name.utf8.span) || ownFields.contains(name.lowercased())
  }

  /// Fields that `Connection` names apply only to that connection, and are not forwarded in either direction (RFC 9110
  /// §7.6.1).
  private static func connectionFields(_ values: [String]) -> Set<String> {
    let names = values.flatMap { $0.split(separator: ",") }
    return Set(names.map { $0.filter { !$0.isWhitespace }.lowercased() })
  }

  private static func response(to result: TransactionResult, isHead: Bool) -> ServerResponse {
    guard var response = result.response, isForClient(response, result.error) else {
      let error = result.error.map { ResultDocument.Failure($0).document() } ?? .object()
      let text = (try? error.serialized()) ?? []
      return ServerResponse(
        status: 502, headers: [HeaderLine("Content-Type", "application/json")], body: .bytes(text + [0x0A]))
    }
    // The engine has already decoded the body.
    if response.headers.contains("content-encoding"), !response.body.isEmpty {
      response.headers.remove("content-encoding")
      _ = response.removeDerivedFields()
    }
    let headers = response.headers
    let named = connectionFields(headers[values: "Connection"])
    var lines: [HeaderLine] = []
    for index in headers.indices {
      let name = headers.name(at: index)
      guard !isOwn(name), !named.contains(name.lowercased()) else { continue }
      lines.append(HeaderLine(name, bytes: Array(headers.buffer[headers.valueRange(at: index)])))
    }
    if isHead && response.body.isEmpty || response.status == 304 {
      // The server sends the length of a body that it would make, but does not send the body. A body that a stage has
      // given to status 304 is not the one that the client has (RFC 9110 §8.6).
      let length = response.body.isEmpty ? response.headers["content-length"].flatMap { UInt64($0) } : nil
      return ServerResponse(
        status: response.status, headers: lines,
        body: .generated(.alphabet, byteCount: length ?? 0, chunked: length == nil))
    }
    return ServerResponse(status: response.status, headers: lines, body: .bytes(bytes(of: response.body)))
  }

  /// Whether the client gets the response. A failed transaction can have one. The client gets it if it is complete. If
  /// a stage or the rules for redirects have ended the transaction after the head, there is no body. The client then
  /// gets the head if it cannot take it for a success.
  private static func isForClient(_ response: Response, _ error: TransactionError?) -> Bool {
    guard let error, !errorsOfCompleteResponses.contains(error.code) else { return true }
    return response.status >= 300 && (error.stage != nil || errorsOfRedirects.contains(error.code))
  }

  private static let errorsOfCompleteResponses: Set<ErrorCode> = [.status, .extraction, .payload]
  private static let errorsOfRedirects: Set<ErrorCode> = [.redirectLoop, .tooManyRedirects, .redirectRefused]

  private static func bytes(of body: Body) -> [UInt8] {
    if case .file(let file) = body { return (try? FileContent.read(file)) ?? [] }
    return body.bytes ?? []
  }
}
