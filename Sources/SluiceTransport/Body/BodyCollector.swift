import SluiceMessages
import SluicePipeline

/// Gathers a body in memory, and beyond a size in a file.
struct BodyCollector {
  private var bytes: [UInt8] = []
  private var spilled: SpilledBody?
  private let spillBytes: Int

  init(spillBytes: Int) { self.spillBytes = spillBytes }

  /// Makes room for what the head announced; a lie costs at most the size at which bodies go to a file.
  mutating func expect(_ count: Int) {
    if count <= min(spillBytes, 65_536) { bytes.reserveCapacity(count) }
  }

  /// Takes a piece; answers ``BodyProgress/pause`` where the disk is behind.
  ///
  /// - Parameter makeSpilled: called when memory no longer suffices.
  mutating func append(
    _ piece: some Collection<UInt8>, _ makeSpilled: () -> SpilledBody
  ) throws(TransportError) -> BodyProgress {
    if let spilled { return try spilled.append(Array(piece)) }
    guard bytes.count + piece.count > spillBytes else {
      bytes.append(contentsOf: piece)
      return .proceed
    }
    let spilled = makeSpilled()
    self.spilled = spilled
    _ = try spilled.append(bytes)
    bytes = []
    return try spilled.append(Array(piece))
  }

  /// The whole; nil where the disk does not have all of it yet.
  func finish() throws(TransportError) -> Body? {
    if let spilled { return try spilled.finish().map { .file($0) } }
    return bytes.isEmpty ? .empty : .bytes(bytes)
  }
}
