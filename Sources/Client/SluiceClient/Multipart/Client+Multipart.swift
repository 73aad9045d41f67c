public import Sluice
public import SluiceMessages
public import SluicePipeline

extension Client {
  /// Sends a request with a form as its body, and sets its `Content-Type` and length. Files are read while they are
  /// sent.
  ///
  /// A form without files can be sent again. If there is a file, a retry, and a redirect that keeps the body, fail with
  /// `body_not_replayable`.
  ///
  /// - Parameter request: its body and its `Content-Type` are replaced.
  public func upload(
    for request: Request, from form: MultipartForm, delegate: (any TransactionDelegate)? = nil,
    cancellation: Cancellation? = nil
  ) async throws(TransactionError) -> (bytes: [UInt8], response: Response) {
    var request = request
    request.headers["content-type"] = form.contentType
    let segments = form.allSegments
    if segments.count == 1, case .bytes(let bytes) = segments[0] {
      return try await upload(for: request, from: bytes, delegate: delegate, cancellation: cancellation)
    }
    let pieces = MultipartPieces(segments: segments)
    return try await upload(
      for: request, from: pieces, byteCount: pieces.byteCount, delegate: delegate, cancellation: cancellation)
  }
}
