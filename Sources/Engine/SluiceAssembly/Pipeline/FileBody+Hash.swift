import Glibc
import SluiceMessages
import SluicePipeline
import SluiceSupport

extension FileBody {
  private static let pieceBytes = 65_536

  /// The hash of the content; nil if the file cannot be read. Blocks.
  var contentHash: UInt64? {
    guard let stream = fopen(SystemPath.of(path), "re") else { return nil }
    defer { fclose(stream) }
    var (hash, rest) = (MessageHash(), byteCount)
    var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
    while rest > 0 {
      let count = fread(&piece, 1, min(rest, piece.count), stream)
      guard count > 0 else { return nil }
      hash.update(piece[..<count])
      rest -= count
    }
    return hash.finish()
  }
}
