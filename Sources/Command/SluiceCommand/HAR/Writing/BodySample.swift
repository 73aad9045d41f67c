import SluiceMessages

/// A body as an archive shows it: the whole body up to a limit, otherwise only its size and the reason.
struct BodySample: Sendable {
  /// A larger body is left out.
  static let limitBytes = 1 << 20

  private enum Content {
    case bytes([UInt8])
    /// The file is read only when the body is shown, because reading waits for the disk.
    case file(FileBody)
  }

  private var content = Content.bytes([])
  /// The bytes of the body so far, including those that are left out.
  private(set) var byteCount = 0
  /// The reason why a part of the body is missing; nil if no part is missing, or if a part is missing only because of
  /// the limit.
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

  /// Adds a piece of a body that is sampled while it passes.
  mutating func append(_ piece: [UInt8]) {
    guard case .bytes(var bytes) = content else { return }
    byteCount += piece.count
    // Clears `content` first: as long as it refers to the same array, appending to `bytes` would copy all bytes.
    content = .bytes([])
    guard byteCount <= Self.limitBytes else { return }
    bytes += piece
    content = .bytes(bytes)
  }

  /// The memory that this value holds.
  var heldBytes: Int { if case .bytes(let bytes) = content { bytes.count } else { 0 } }

  /// The bytes to show, and a comment that explains missing bytes. Reads a file, so it must not be called on an event
  /// loop.
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
