import SluiceContentCoding

/// A body on its way through its decoder: what was taken from libcurl and has not come out yet.
final class DecodedBody {
  /// What comes out at once, at most: as much as libcurl gives of a body without a coding.
  private static let pieceBytes = 16_384

  private let decoder: ContentDecoder
  private var rest: [UInt8] = []
  /// Whether the decoder may hold output that had no room.
  private(set) var hasRest = false
  /// What has come out so far.
  private(set) var byteCount = 0

  init(_ codings: ContentCodings) throws(ContentDecodingError) { decoder = try ContentDecoder(codings) }

  /// Decodes a piece as far as the taker goes along, and keeps what is left of it for ``decodeRest(_:)``.
  /// - Parameter take: gets what comes out; false stops.
  func decode(
    _ piece: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Bool
  ) throws(ContentDecodingError) {
    var input = piece
    hasRest = true
    repeat {
      let output = try step(&input)
      hasRest = output.count == Self.pieceBytes
      byteCount += output.count
      guard output.isEmpty || output.withUnsafeBytes(take) else { break }
    } while hasRest
    rest = hasRest ? Array(input) : []
  }

  /// Goes on where the taker stopped.
  func decodeRest(_ take: (UnsafeRawBufferPointer) -> Bool) throws(ContentDecodingError) {
    guard hasRest else { return }
    let rest = rest
    // A typed throw does not pass through the closure.
    let failure = rest.withUnsafeBytes { bytes -> ContentDecodingError? in
      do throws(ContentDecodingError) {
        try decode(bytes, take)
        return nil
      } catch { return error }
    }
    if let failure { throw failure }
  }

  /// The body has ended.
  func finish() throws(ContentDecodingError) { try decoder.finish() }

  private func step(_ input: inout UnsafeRawBufferPointer) throws(ContentDecodingError) -> [UInt8] {
    var failure: ContentDecodingError?
    let output = [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { buffer, count in
      do throws(ContentDecodingError) {
        count = try decoder.decode(&input, into: UnsafeMutableRawBufferPointer(buffer))
      } catch { failure = error }
    }
    if let failure { throw failure }
    return output
  }
}
