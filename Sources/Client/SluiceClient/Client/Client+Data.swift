public import Sluice
public import SluiceMessages
public import SluicePipeline

// Requests whose response is collected.
extension Client {
  /// Gets a URL, and collects the body in memory. See ``data(for:delegate:cancellation:)``.
  public func data(
    from url: HTTPURL, delegate: (any TransactionDelegate)? = nil, cancellation: Cancellation? = nil
  ) async throws(TransactionError) -> (bytes: [UInt8], response: Response) {
    try await data(for: Request(url: url), delegate: delegate, cancellation: cancellation)
  }

  /// Sends a request, and collects the body in memory, at most `transport.maxResponseBytes`.
  ///
  /// - Parameters:
  ///   - delegate: asked before the delegates of the client and the engine; retained until the request has ended.
  ///   - cancellation: ends this call from any thread; use one for each call.
  /// - Returns: the decoded body, and the response with its head and trailers.
  /// - Throws: why there is no complete response. An error status is thrown only if the client does not accept every
  ///   status.
  public func data(
    for request: Request, delegate: (any TransactionDelegate)? = nil, cancellation: Cancellation? = nil
  ) async throws(TransactionError) -> (bytes: [UInt8], response: Response) {
    var response = try await run(request, delegate, cancellation)
    if case .file(let file) = response.body { response.body = .bytes(try await HeldFile.readAll(file)) }
    return (response.body.bytes ?? [], response)
  }

  /// Sends a request with these bytes as its body.
  ///
  /// - Parameter request: its body is replaced. The caller must set a content type.
  public func upload(
    for request: Request, from bytes: [UInt8], delegate: (any TransactionDelegate)? = nil,
    cancellation: Cancellation? = nil
  ) async throws(TransactionError) -> (bytes: [UInt8], response: Response) {
    var request = request
    request.body = bytes.isEmpty ? .empty : .bytes(bytes)
    return try await data(for: request, delegate: delegate, cancellation: cancellation)
  }

  /// Sends a request with the content of a file as its body. The file is read while it is sent, and is read again if
  /// the request is sent again.
  ///
  /// - Parameter path: a regular file. If its size changes while it is sent, the call fails with `body_file`.
  public func upload(
    for request: Request, fromFile path: String, delegate: (any TransactionDelegate)? = nil,
    cancellation: Cancellation? = nil
  ) async throws(TransactionError) -> (bytes: [UInt8], response: Response) {
    var request = request
    request.body = try await Body.file(at: path)
    return try await data(for: request, delegate: delegate, cancellation: cancellation)
  }

  /// Sends a request whose body consists of the elements of a sequence, while they are produced.
  ///
  /// A separate task, with the task-local values of the caller, reads the sequence, beginning when the request is sent,
  /// at most 1 MiB ahead of the socket. The task is cancelled when the call ends. The body can be sent only once: a
  /// retry, and a redirect that keeps the body, fail with `body_not_replayable`.
  ///
  /// - Parameters:
  ///   - pieces: if the sequence throws a `TransactionError`, the request fails with that error. Any other error fails
  ///     it with `body_file`, and is the `TransactionError.underlying` error.
  ///   - byteCount: the size, if it is known. Otherwise the body is sent in chunks, or without a length over HTTP/2. If
  ///     the sequence ends before this size or a piece goes beyond it, the request fails with `body_file`; later pieces
  ///     are not read.
  public func upload<Pieces: AsyncSequence & Sendable>(
    for request: Request, from pieces: Pieces, byteCount: Int? = nil, delegate: (any TransactionDelegate)? = nil,
    cancellation: Cancellation? = nil
  ) async throws(TransactionError) -> (bytes: [UInt8], response: Response) where Pieces.Element == [UInt8] {
    let upload = ProducedBody(pieces, byteCount: byteCount)
    defer { upload.stop() }
    var request = request
    request.body = .stream(upload.stream)
    do throws(TransactionError) {
      return try await data(for: request, delegate: delegate, cancellation: upload.cancellation(cancellation))
    } catch { throw upload.cause(error) }
  }
}
