import SluiceContentCoding
import SluiceMessages
import SluicePipeline

// Decodes bodies with content codings; libcurl delivers them undecoded.
extension CurlTransfer {
  /// The codings that must be decoded.
  var codings: ContentCodings {
    reader.codings?.all(includingContent: transport.settings.decodesContent) ?? ContentCodings()
  }

  /// Takes a piece of a coded body. Returns false if the piece is not accepted: the transfer fails, or the observer has
  /// paused on the previous piece.
  func acceptCoded(_ piece: UnsafeRawBufferPointer) -> Bool {
    deliverRest()
    guard failure == nil, !isCancelled else { return false }
    if isHeldBack {
      isPaused = true
      return false
    }
    receivedBytes += piece.count
    do throws(ContentDecodingError) {
      if decoded == nil { decoded = try DecodedBody(codings) }
      guard let body = decoded else { return false }
      try body.decode(piece) { takeDecoded($0, of: body) }
    } catch { failure = undecodable(error) }
    return failure == nil && !isCancelled
  }

  /// Passes the rest of the last piece on, as far as the observer accepts it.
  func deliverRest() {
    guard let body = decoded, body.hasRest, !isHeldBack, failure == nil, !isCancelled else { return }
    do throws(ContentDecodingError) {
      try body.decodeRest { takeDecoded($0, of: body) }
    } catch { failure = undecodable(error) }
  }

  /// Why the body is incomplete, although the message is complete.
  var incompleteCoding: TransportError? {
    guard disposition != .discard else { return nil }
    do throws(ContentDecodingError) {
      if let decoded {
        try decoded.finish()
      } else if !mayBeEmpty {
        try ContentDecoder(codings).finish()
      }
      return nil
    } catch { return undecodable(error) }
  }

  /// Whether a missing body counts as a valid coded body. It does if the server announces an empty body and servers
  /// commonly label empty bodies with this coding, or if a coding is unknown or there are too many.
  private var mayBeEmpty: Bool {
    let codings = codings
    guard (try? codings.check()) != nil else { return true }
    return reader.contentLength == 0 && codings.codings.allSatisfy(\.labelsEmptyBodies)
  }

  private func takeDecoded(_ piece: UnsafeRawBufferPointer, of body: DecodedBody) -> Bool {
    accept(piece, total: body.byteCount) && !isHeldBack
  }

  private func undecodable(_ error: ContentDecodingError) -> TransportError {
    TransportError(
      .decoding,
      "the body cannot be decoded as its Content-Encoding says: \(error.reason); only the server can fix it",
      to: request.url)
  }
}
