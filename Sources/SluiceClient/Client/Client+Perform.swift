public import SluiceEngine
public import SluiceMessages
import SluicePipeline

// Requests whose bodies live as long as a closure.
extension Client {
  /// Sends a request, and calls a closure with the response while its body arrives.
  ///
  /// - Parameters:
  ///   - delegate: asked before the delegates of the client and the engine; retained until the request has ended.
  ///   - cancellation: ends the request and its body from any thread; use one for each call.
  ///   - handler: gets the response without its body, and the body. When it returns or throws, what is left of the body
  ///     is not read, and the request is over.
  /// - Returns: what the handler returns.
  /// - Throws: why there is no response, as a `TransactionError`, or what the handler throws.
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

  /// Sends a request whose body a closure writes, and calls another closure with the response. Both run at the same time
  /// if the server answers before it has the whole body.
  ///
  /// - Parameters:
  ///   - byteCount: the size of the body, if it is known; otherwise it is sent in chunks, or without a length over
  ///     HTTP/2, and can have trailers. A body of another size fails with `body_file`.
  ///   - delegate: asked before the delegates of the client and the engine; retained until the request has ended.
  ///   - cancellation: ends the request and its body from any thread; use one for each call.
  ///   - body: writes the body, in a task of its own, from when the request is sent; the body ends when it returns. Its
  ///     task is cancelled when the handler has ended, and this method waits for its end. It is called once: a retry, and
  ///     a redirect that keeps the body, fail with `body_not_replayable`.
  ///   - handler: gets the response without its body, and the body. When it returns or throws, what is left of the bodies
  ///     is neither sent nor read, and the request is over.
  /// - Returns: what the handler returns.
  /// - Throws: what `body` throws; otherwise why there is no response, as a `TransactionError`, or what the handler throws.
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
      // A write does not wait for room in a request that has ended.
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
