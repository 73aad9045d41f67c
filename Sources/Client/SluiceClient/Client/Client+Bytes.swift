public import Sluice
public import SluiceMessages
public import SluicePipeline

// Requests whose response body is read while it arrives.
extension Client {
  /// Gets a URL, and returns when the head has arrived. See ``bytes(for:delegate:cancellation:)``.
  public func bytes(
    from url: HTTPURL, delegate: (any TransactionDelegate)? = nil, cancellation: Cancellation? = nil
  ) async throws(TransactionError) -> (bytes: ResponseBytes, response: Response) {
    try await bytes(for: Request(url: url), delegate: delegate, cancellation: cancellation)
  }

  /// Sends a request, and returns when the head of the response has passed the response stages.
  ///
  /// A stage that asks for the whole body, or makes it, delays the return until the body is complete; the body is then
  /// read in the same way.
  /// - Parameters:
  ///   - delegate: asked before the delegates of the client and the engine; retained until the request has ended.
  ///   - cancellation: ends the request and its body from any thread; use one for each call.
  /// - Returns: the body, and the response without it.
  /// - Throws: why there is no response. If `acceptsEveryStatus` is false, an error status is thrown only after the
  ///   body has been read, because this call returns before the body has arrived.
  public func bytes(
    for request: Request, delegate: (any TransactionDelegate)? = nil, cancellation: Cancellation? = nil
  ) async throws(TransactionError) -> (bytes: ResponseBytes, response: Response) {
    let (source, response) = try await open(request, delegate, cancellation)
    return (ResponseBytes(source), response)
  }

  /// Sends a request, and waits for the head.
  ///
  /// - Parameter whenOver: called when the transaction has ended.
  func open(
    _ request: Request, _ delegate: (any TransactionDelegate)?, _ cancellation: Cancellation?,
    whenOver: (@Sendable () -> Void)? = nil
  ) async throws(TransactionError) -> (source: BodySource, response: Response) {
    let cancellation = try Self.begin(cancellation)
    let pipe = BodyPipe(cancellation, whenOver: whenOver) { [self] in failure(of: $0) }
    let source = BodySource(pipe)
    engine.submit(
      request, sink: pipe, delegate: delegates(delegate), cancellation: cancellation
    ) { pipe.complete($0) }
    return (source, try await pipe.head())
  }
}
