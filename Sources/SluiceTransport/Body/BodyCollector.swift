import SluiceMessages
import SluicePipeline

/// Gathers a body in memory, or in a file if it is larger than a limit.
struct BodyCollector {
  private var bytes: [UInt8] = []
  private var spilled: SpilledBody?
  private let spillBytes: Int

  init(spillBytes: Int) { self.spillBytes = spillBytes }

  /// Makes room for the size that the head announced. A false size costs at most the size from which bodies go to a
  /// file.
  mutating func expect(_ count: Int) {
    if count <= min(spillBytes, 65_536) { bytes.reserveCapacity(count) }
  }

  /// Takes a piece; returns ``BodyProgress/pause`` if the disk cannot keep up.
  ///
  /// - Parameter makeSpilled: called when the body becomes too large for memory.
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

  /// Moves the whole body out; nil while not all of it is on disk.
  mutating func finish() throws(TransportError) -> Body? {
    if let spilled { return try spilled.finish().map { .file($0) } }
    if bytes.isEmpty { return .empty }
    var whole: [UInt8] = []
    swap(&whole, &bytes)
    return .bytes(whole)
  }
}
