import SluiceMessages
import SluicePipeline

/// Collects a body in memory, or in a file if the body is larger than a limit.
struct BodyCollector {
  private var bytes: [UInt8] = []
  private var spilled: SpilledBody?
  private let spillBytes: Int
  /// The announced size of the body; 0 if it is unknown, or too large to reserve memory for it.
  private let expectedBytes: Int

  /// - Parameter expectedBytes: the size that the head announced, or 0 if it is unknown. If the announced size is
  ///   wrong, at most 64 KiB of memory are reserved in vain.
  init(spillBytes: Int, expectedBytes: Int) {
    self.spillBytes = spillBytes
    self.expectedBytes = expectedBytes <= min(spillBytes, 65_536) ? expectedBytes : 0
  }

  /// Whether the body is written to a file.
  var isSpilled: Bool { spilled != nil }

  /// Takes a piece; returns ``BodyProgress/pause`` if the disk cannot keep up.
  ///
  /// - Parameter makeSpilled: called when the body becomes too large for memory.
  mutating func append(
    _ piece: some Collection<UInt8>, _ makeSpilled: () -> SpilledBody
  ) throws(TransportError) -> BodyProgress {
    if let spilled { return try spilled.append(Array(piece)) }
    guard bytes.count + piece.count > spillBytes else {
      // This is the most frequent case: the whole body comes in one piece.
      if bytes.isEmpty, piece.count >= expectedBytes {
        bytes = Array(piece)
      } else {
        if bytes.isEmpty { bytes.reserveCapacity(expectedBytes) }
        bytes.append(contentsOf: piece)
      }
      return .proceed
    }
    let spilled = makeSpilled()
    self.spilled = spilled
    _ = try spilled.append(bytes)
    bytes = []
    return try spilled.append(Array(piece))
  }

  /// Moves the whole body out. Returns nil while a part of the body is not on disk yet.
  mutating func finish() throws(TransportError) -> Body? {
    if let spilled { return try spilled.finish().map { .file($0) } }
    if bytes.isEmpty { return .empty }
    var whole: [UInt8] = []
    swap(&whole, &bytes)
    return .bytes(whole)
  }
}
