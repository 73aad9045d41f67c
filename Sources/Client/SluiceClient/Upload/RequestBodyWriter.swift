public import SluiceMessages
public import SluicePipeline

/// Writes a request body while it is sent.
public struct RequestBodyWriter: Sendable {
  /// Returns false if no further pieces are wanted.
  private let put: @Sendable ([UInt8]) async -> Bool
  /// Nil if the body cannot have trailers.
  private let setTrailers: (@Sendable (HeaderFields) -> Void)?

  init(put: @escaping @Sendable ([UInt8]) async -> Bool, setTrailers: (@Sendable (HeaderFields) -> Void)?) {
    self.put = put
    self.setTrailers = setTrailers
  }

  /// Sends bytes. Waits while 1 MiB is still unsent. If several tasks write at the same time, their pieces are sent in
  /// any order.
  ///
  /// - Throws: `cancelled` if the request has ended.
  public func write(_ bytes: [UInt8]) async throws(TransactionError) {
    guard await put(bytes) else {
      throw TransactionError(code: .cancelled, message: "the request has ended, and takes no more of its body")
    }
  }

  /// Sends text as UTF-8, in the same way as bytes.
  public func write(_ text: String) async throws(TransactionError) { try await write(Array(text.utf8)) }

  /// Sets the fields that follow the body (RFC 9110 §6.5). They are sent when the body ends. If a field is not allowed
  /// as a trailer, the request fails at that point.
  ///
  /// - Throws: `invalid_header` if the body was started with a length.
  public func setTrailers(_ trailers: HeaderFields) throws(TransactionError) {
    guard let setTrailers else {
      throw TransactionError(
        code: .invalidHeader, message: "a body of a known length has no trailers; begin it without `byteCount`")
    }
    setTrailers(trailers)
  }
}
