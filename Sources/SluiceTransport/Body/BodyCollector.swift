import SluiceMessages
import SluicePipeline

/// Gathers a response body in memory, and beyond a size in a file.
struct BodyCollector {
  private var bytes: [UInt8] = []
  private var spill: SpillFile?
  private let spillBytes: Int

  init(spillBytes: Int) { self.spillBytes = spillBytes }

  /// Makes room for what the head announced; a lie costs at most the size at which bodies go to a file.
  mutating func expect(_ count: Int) {
    if count <= min(spillBytes, 65_536) { bytes.reserveCapacity(count) }
  }

  mutating func append(_ piece: UnsafeRawBufferPointer) throws(TransportError) {
    if spill == nil {
      guard bytes.count + piece.count > spillBytes else { return bytes.append(contentsOf: piece) }
      try moveToFile()
    }
    try spill?.write(piece)
  }

  consuming func finish() -> Body {
    if let spill { return .file(spill.finish()) }
    return bytes.isEmpty ? .empty : .bytes(bytes)
  }

  private mutating func moveToFile() throws(TransportError) {
    let file = try SpillFile()
    // A typed throw does not pass through the closure.
    let result = bytes.withUnsafeBytes { bytes -> TransportError? in
      do throws(TransportError) {
        try file.write(bytes)
        return nil
      } catch { return error }
    }
    if let result { throw result }
    bytes = []
    spill = file
  }
}
