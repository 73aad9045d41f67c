import SluiceMessages
import SluicePipeline

/// Reads a file from its beginning. Unchecked, because only the loop uses it.
final class FileReader: @unchecked Sendable {
  private let file: UploadFile
  private let path: String
  private let byteCount: Int
  private var offset = 0

  init(_ file: UploadFile, _ body: FileBody) {
    self.file = file
    path = body.path
    byteCount = body.byteCount
  }

  func read(_ maximum: Int) throws(TransportError) -> [UInt8]? {
    // Bytes behind `byteCount` were added to the file later and are not part of the body.
    let count = min(maximum, byteCount - offset)
    guard count > 0 else { return nil }
    var failure: TransportError?
    let piece = [UInt8](unsafeUninitializedCapacity: count) { buffer, count in
      do throws(TransportError) {
        count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      } catch { failure = error }
    }
    if let failure { throw failure }
    offset += piece.count
    guard !piece.isEmpty else {
      throw TransportError(
        .bodyFile, "the body in \(path) has \(offset) of its \(byteCount) bytes: the file was cut short")
    }
    return piece
  }
}
