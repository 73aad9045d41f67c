/// Decodes a body piece by piece, and keeps the input that is not decoded yet.
final class DecodedBody {
  /// The size of the largest piece of output.
  private static let pieceBytes = 16_384

  private let decoder: ContentDecoder
  private var rest: [UInt8] = []
  /// Whether input or output may be left.
  private(set) var hasRest = false
  /// The number of decoded bytes so far.
  private(set) var byteCount = 0

  init(_ codings: ContentCodings) throws(ContentDecodingError) { decoder = try ContentDecoder(codings) }

  /// Decodes a piece as far as `take` accepts the output, and keeps the rest of the input for ``decodeRest(_:)``.
  /// - Parameter take: receives the output. If it returns false, the decoding stops.
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

  /// Continues where `take` stopped.
  func decodeRest(_ take: (UnsafeRawBufferPointer) -> Bool) throws(ContentDecodingError) {
    guard hasRest else { return }
    let rest = rest
    // The closure returns the error, because `withUnsafeBytes` cannot pass on its type.
    let failure = rest.withUnsafeBytes { bytes -> ContentDecodingError? in
      do throws(ContentDecodingError) {
        try decode(bytes, take)
        return nil
      } catch { return error }
    }
    if let failure { throw failure }
  }

  /// Checks that the coding is complete; call it when the body has ended.
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
