import Glibc
import SluiceJSON
import SluiceServer

/// Turns HTTP requests into commands, and their answers into responses.
struct ControlHandler: Sendable {
  static let maximumBodyBytes = 1 << 20
  static let maximumConnections = 64
  private static let maxTargetBytes = 8 << 10
  private static let maxFieldBytes = 32 << 10
  /// The memory of libmicrohttpd for the head of a request. It is larger than the limits of target and fields together,
  /// because libmicrohttpd answers with its own text if the memory is too small.
  static let connectionMemoryBytes = 256 << 10

  static let tooLarge = answer(
    ControlError(
      .tooLarge, "the request has more than \(maximumBodyBytes) bytes",
      advice: "send the path of the configuration instead of the configuration"), 413)

  @Sendable static func malformed(_ fault: HeadFault) -> ServerResponse {
    answer(ControlError(.malformed, "the head of the request is not valid: \(fault.reason)"), fault.status)
  }

  static let crowded = answer(
    ControlError(
      .crowded, "\(maximumConnections) commands are under way", advice: "wait for one of them to finish"),
    503)

  /// The media type of Prometheus' text format.
  static let prometheusType = "text/plain; version=0.0.4; charset=utf-8"

  private let commands: ControlCommands

  init(_ commands: ControlCommands) { self.commands = commands }

  func respond(to request: ServerRequest) -> ServerResponse {
    // The mode of the socket already keeps other users out, unless somebody has changed the mode.
    guard let user = request.peerUser, user == geteuid() || user == 0 else {
      return Self.answer(
        ControlError(.forbidden, "only the user that runs the engine can control it", advice: "run it as that user"),
        403)
    }
    if let refusal = Self.refusal(ofHead: request) { return refusal }
    guard let route = ControlRoute.all.first(where: { $0.path == request.path }) else {
      let paths = ControlRoute.all.map { "\($0.method) \($0.path)" }.joined(separator: ", ")
      return Self.answer(
        ControlError(.notFound, "there is no \(request.path)", advice: "there are \(paths)"), 404)
    }
    guard request.method == route.method || (request.method == "HEAD" && route.method == "GET") else {
      var refusal = Self.answer(
        ControlError(
          .methodNotAllowed, "\(request.path) does not accept \(request.method)", advice: "use \(route.method)"), 405)
      refusal.headers.append(HeaderLine("Allow", route.method == "GET" ? "GET, HEAD" : route.method))
      return refusal
    }
    let document: JSONValue
    do { document = try Self.document(request.body) } catch { return Self.answer(error, 400) }
    let isText = Self.wantsText(request)
    return .deferred { promise in
      // The route runs as a task, so that the server's thread continues at once.
      Task.detached { [commands] in
        promise.complete(
          with: await Self.result { () async throws(ControlError) in
            try await route.run(commands, document, isText)
          })
      }
    }
  }

  private static func refusal(ofHead request: ServerRequest) -> ServerResponse? {
    guard request.version != "HTTP/1.1" || request.headers.first("Host") != nil else {
      return malformed(HeadFault(status: 400, reason: "there is no Host (RFC 9112 §3.2)"))
    }
    guard request.target.utf8.count <= maxTargetBytes else {
      return answer(ControlError(.tooLarge, "the target has more than \(maxTargetBytes) bytes"), 414)
    }
    let fields = request.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    guard fields <= maxFieldBytes else {
      return answer(ControlError(.tooLarge, "the header fields have more than \(maxFieldBytes) bytes"), 431)
    }
    return nil
  }

  private static func result(
    _ work: () async throws(ControlError) -> ControlAnswer
  ) async -> ServerResponse {
    do throws(ControlError) {
      switch try await work() {
      case .document(let document): return answer(document, 200)
      case .text(let text): return .text(text, type: prometheusType)
      }
    } catch { return answer(error, status(of: error.code)) }
  }

  /// An empty body is an empty object.
  private static func document(_ body: [UInt8]) throws(ControlError) -> JSONValue {
    guard !body.isEmpty else { return .object() }
    let document: JSONValue
    do { document = try JSONValue(parsing: body, options: .rejectDuplicates) } catch {
      throw ControlError(.malformed, "the body is not JSON: \(error)")
    }
    guard document.isObject else {
      throw ControlError(.invalidRequest, "expected an object, found \(document.kind.rawValue)")
    }
    return document
  }

  /// Prometheus asks for text with `Accept` (RFC 9110 §12.5.1). A client that accepts any type gets JSON.
  private static func wantsText(_ request: ServerRequest) -> Bool {
    let accepted = request.headers.values(of: "Accept").joined(separator: ",").lowercased()
    guard !accepted.contains("application/json") else { return false }
    return accepted.contains("text/plain") || accepted.contains("application/openmetrics-text")
  }

  private static func status(of code: ControlError.Code) -> Int {
    switch code {
    case .invalidRequest: 400
    case .configuration, .refused: 422
    case .superseded, .cancelled: 409
    case .shutdown: 503
    default: 500
    }
  }

  static func answer(_ error: ControlError, _ status: Int) -> ServerResponse { answer(error.document, status) }

  private static func answer(_ document: JSONValue, _ status: Int) -> ServerResponse {
    guard let text = try? document.serialized() else {
      return .text("the answer cannot be written as JSON\n", status: 500)
    }
    return ServerResponse(
      status: status, headers: [HeaderLine("Content-Type", "application/json")],
      body: .bytes(text + [UInt8(ascii: "\n")]))
  }
}
