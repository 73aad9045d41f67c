import SluiceMessages

/// A body as an archive shows it: whole up to a limit, otherwise its size and the reason.
struct BodySample: Sendable {
  /// A larger body is left out.
  static let limitBytes = 1 << 20

  private enum Content {
    case bytes([UInt8])
    /// Read when it is shown, because that waits for the disk.
    case file(FileBody)
  }

  private var content = Content.bytes([])
  /// The bytes of the body so far, also of those that are left out.
  private(set) var byteCount = 0
  /// Why there is more of the body than was taken; nil if there is not.
  var gap: String?

  init() {}

  init(_ body: Body) {
    byteCount = body.byteCount ?? 0
    guard byteCount <= Self.limitBytes else { return }
    switch body {
    case .bytes(let bytes): content = .bytes(bytes)
    case .file(let file): content = .file(file)
    case .empty, .stream: break
    }
  }

  /// Adds a piece to a body that is taken while it passes.
  mutating func append(_ piece: [UInt8]) {
    guard case .bytes(var bytes) = content else { return }
    byteCount += piece.count
    // Released first, because a second reference would make the append copy all bytes.
    content = .bytes([])
    guard byteCount <= Self.limitBytes else { return }
    bytes += piece
    content = .bytes(bytes)
  }

  /// The memory that it holds.
  var heldBytes: Int { if case .bytes(let bytes) = content { bytes.count } else { 0 } }

  /// The bytes to show, and what must be said about them. Reads a file, so it must not be called on an event loop.
  func shown() -> (bytes: [UInt8], comment: String?) {
    guard byteCount <= Self.limitBytes else {
      return ([], "left out: it has \(byteCount) bytes, and an archive keeps at most \(Self.limitBytes)")
    }
    switch content {
    case .bytes(let bytes): return (bytes, gap)
    case .file(let file):
      do throws(CommandError) { return (try FileContent.read(file), gap) } catch {
        return ([], "left out: \(error.message)")
      }
    }
  }
}
