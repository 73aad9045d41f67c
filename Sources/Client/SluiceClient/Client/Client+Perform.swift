public import Sluice
public import SluiceMessages
import SluicePipeline

// Requests whose bodies exist only while a closure runs.
extension Client {
  /// Sends a request, and calls a closure with the response while its body arrives.
  ///
  /// - Parameters:
  ///   - delegate: asked before the delegates of the client and the engine; retained until the request has ended.
  ///   - cancellation: ends the request and its body from any thread; use one for each call.
  ///   - handler: gets the response without its body, and the body. When it returns or throws, the rest of the body is
  ///     not read, and the request ends.
  /// - Returns: what the handler returns.
  /// - Throws: the error that the handler throws; if there is no response, the reason as a `TransactionError`.
  public func perform<Return>(
    _ request: Request, delegate: (any TransactionDelegate)? = nil, cancellation: Cancellation? = nil,
    isolation: isolated (any Actor)? = #isolation, _ handler: (Response, ResponseBytes) async throws -> Return
  ) async throws -> Return {
    try await run(request, delegate, cancellation, isolation: isolation, whenOver: nil, handler)
  }

  private func run<Return>(
    _ request: Request, _ delegate: (any TransactionDelegate)?, _ cancellation: Cancellation?,
    isolation: isolated (any Actor)?, whenOver: (@Sendable () -> Void)?,
    _ handler: (Response, ResponseBytes) async throws -> Return
  ) async throws -> Return {
    let (source, response) = try await open(request, delegate, cancellation, whenOver: whenOver)
    defer { source.pipe.cancel() }
    return try await handler(response, ResponseBytes(source))
  }

  /// Sends a request whose body is written by one closure, and calls another closure with the response. Both run at the
  /// same time if the server answers before it has received the whole body.
  ///
  /// - Parameters:
  ///   - byteCount: the size of the body, if it is known. Otherwise the body is sent in chunks, or without a length
  ///     over HTTP/2, and can have trailers. A body of another size fails with `body_file`.
  ///   - delegate: asked before the delegates of the client and the engine; retained until the request has ended.
  ///   - cancellation: ends the request and its body from any thread; use one for each call.
  ///   - body: writes the body, in a separate task that begins when the request is sent and has the task-local values
  ///     of the caller; the body ends when the closure returns. The task is cancelled when the handler has ended, and this method waits for the task. The closure is
  ///     called only once: a retry, and a redirect that keeps the body, fail with `body_not_replayable`.
  ///   - handler: gets the response without its body, and the body. When it returns or throws, the rest of both bodies
  ///     is neither sent nor read, and the request ends.
  /// - Returns: what the handler returns.
  /// - Throws: the error that `body` throws; otherwise the error that the handler throws or, if there is no response,
  ///   the reason as a `TransactionError`.
  public func perform<Return>(
    _ request: Request, byteCount: Int? = nil, delegate: (any TransactionDelegate)? = nil,
    cancellation: Cancellation? = nil, isolation: isolated (any Actor)? = #isolation,
    body: @escaping @Sendable (RequestBodyWriter) async throws -> Void,
    _ handler: (Response, ResponseBytes) async throws -> Return
  ) async throws -> Return {
    let body = ProducedBody(byteCount: byteCount, body)
    var request = request
    request.body = .stream(body.stream)
    do {
      // If the request has ended, a write does not wait for room.
      let result = try await run(
        request, delegate, body.cancellation(cancellation), isolation: isolation, whenOver: { body.stop() }, handler)
      await body.stopAndWait()
      return result
    } catch {
      let cause = body.failure
      await body.stopAndWait()
      throw cause ?? error
    }
  }
}
