import Glibc
import Sluice
public import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceServer

/// Talks to an engine over its control socket.
public final class ControlClient: Sendable {
  /// The path of the socket: the given path, or the socket of the only running engine.
  public let path: String
  private let engine: Engine

  /// - Parameter path: the path of the socket; nil finds the only engine that runs.
  public init(at path: String? = nil) throws(ControlError) {
    if let path { self.path = path } else { self.path = try ControlFolder.onlyPath() }
    try Self.check(self.path)
    var configuration = Configuration()
    configuration.transport.unixSocket = self.path
    // Each request has its own time limit.
    configuration.transport.timeout = .seconds(86_400)
    configuration.maximumAttempts = 1
    configuration.deadline = nil
    configuration.redirects.maximum = 0
    // Every status is accepted, because errors are answered with a document too.
    configuration.acceptedStatuses = StatusSet([100...999])
    do { engine = try Engine(configuration) } catch {
      throw ControlError(.noAnswer, "cannot start a client: \(error)")
    }
  }

  /// Closes the connection.
  public func close() async { await engine.shutdown(drain: .zero, deactivation: .zero) }

  /// Sends a command and returns the document that answers it.
  /// - Parameter timeout: how long to wait for the answer. Swaps can be slow, because a build goes through a trial
  ///   first.
  public func send(
    _ method: String, _ target: String, _ document: JSONValue? = nil, timeout: Duration = .seconds(300)
  ) async throws(ControlError) -> JSONValue {
    let (status, body) = try await exchange(method, target, document, "application/json", timeout)
    guard let answer = try? JSONValue(parsing: body) else {
      throw ControlError(
        .noAnswer, "\(path) answered with status \(status) and no JSON",
        advice: "check that it is the socket of an engine")
    }
    if let error = ControlError(answer) { throw error }
    guard (200..<300).contains(status) else {
      throw ControlError(
        .noAnswer, "\(path) answered with status \(status)", advice: "check that it is the socket of an engine")
    }
    return answer
  }

  /// The metrics in Prometheus' text format.
  public func prometheusText() async throws(ControlError) -> [UInt8] {
    let (status, body) = try await exchange("GET", "/v1/metrics", nil, "text/plain", .seconds(30))
    if let answer = try? JSONValue(parsing: body), let error = ControlError(answer) { throw error }
    guard status == 200 else { throw ControlError(.noAnswer, "\(path) answered with status \(status)") }
    return body
  }

  private func exchange(
    _ method: String, _ target: String, _ document: JSONValue?, _ accept: String, _ timeout: Duration
  ) async throws(ControlError) -> (Int, [UInt8]) {
    let result: TransactionResult
    do {
      var request = Request(method: method, url: try HTTPURL("http://localhost\(target)"), timeout: timeout)
      request.headers["accept"] = accept
      if let document {
        request.headers["content-type"] = "application/json"
        request.body = .bytes(try document.serialized())
      }
      result = await engine.transaction(request)
    } catch { throw ControlError(.invalidRequest, "\(error)") }
    guard let response = result.response else { throw failure(result) }
    return (response.status, response.body.bytes ?? [])
  }

  private func failure(_ result: TransactionResult) -> ControlError {
    guard result.error?.isBeforeSending == true else {
      return ControlError(
        .noAnswer, "\(path): no answer: \(result.error?.message ?? "nothing came")",
        advice: "the engine might have ended in the meantime")
    }
    let found = UnixSocket.find(at: path)
    if case .listening = found {
      return ControlError(
        .noAnswer, "\(path): no answer: the engine accepts no more connections",
        advice: "try again; if the error stays, the process of the engine is stopped or stuck")
    }
    let isAbandoned = found == .abandoned
    return Self.noEngine(
      path,
      isAbandoned ? "the socket is left from an engine that ended without removing it" : "no process listens there")
  }

  /// Checks the path before the first request, because the error of a connection does not say what is wrong with a path.
  private static func check(_ path: String) throws(ControlError) {
    guard path.utf8.count <= UnixSocket.maximumPathBytes else {
      throw ControlError(
        .socket,
        "\(path): the path has \(path.utf8.count) bytes, a socket allows at most \(UnixSocket.maximumPathBytes)")
    }
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == EACCES {
        throw ControlError(.forbidden, "\(path): permission denied; use the user of the engine, or root")
      }
      throw noEngine(path, String(cString: strerror(errno)))
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw ControlError(.socket, "\(path) is not a socket") }
    guard status.st_uid == geteuid() || status.st_uid == 0 || geteuid() == 0 else {
      throw ControlError(.forbidden, "\(path) belongs to another user (\(status.st_uid))")
    }
    guard access(path, W_OK) == 0 else {
      throw ControlError(.forbidden, "\(path): \(String(cString: strerror(errno)))")
    }
  }

  private static func noEngine(_ path: String, _ reason: String) -> ControlError {
    ControlError(
      .noEngine, "no engine at \(path): \(reason)", advice: "start one with \"sluice run --control \(path)\"")
  }
}
