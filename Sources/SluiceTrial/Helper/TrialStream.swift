import Glibc
import SluiceJSON
import SluiceMessages
import SluiceSupport

/// What comes out of one of the child's streams. It is read to the end, so that the child never waits for a reader, and kept
/// in part, so that the supervisor does not grow.
struct TrialStream {
  /// Enough for a failed check of Swift and the 128 frames that its runtime lists behind it.
  private static let keptBytes = 16 << 10
  private static let roomBytes = 1 << 20
  /// For what the child says over its channel.
  static let channelRoomBytes = 32 << 20

  private let roomBytes: Int
  private let descriptor: CInt
  private var isOpen = true
  private var count = 0
  /// The end of what came, and a while before it.
  private(set) var bytes: [UInt8] = []

  init(descriptor: CInt, roomBytes: Int = Self.roomBytes) {
    self.descriptor = descriptor
    self.roomBytes = roomBytes
  }

  /// -1, which poll(2) ignores, at the end.
  var pollDescriptor: CInt { isOpen ? descriptor : -1 }

  var output: TrialReport.Output { TrialReport.Output(byteCount: count, tail: Array(bytes.suffix(Self.keptBytes))) }

  /// Takes what is there; waits where nothing is.
  mutating func read() {
    guard let piece = DescriptorPiece.read(descriptor), !piece.isEmpty else {
      isOpen = false
      return
    }
    count += piece.count
    bytes += piece
    if bytes.count > 2 * roomBytes { bytes.removeFirst(bytes.count - roomBytes) }
  }

  /// Takes the rest, when nobody is left who writes.
  mutating func readRest() {
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    while isOpen { read() }
  }
}

extension TrialReport {
  /// Takes what the child said over its channel: lines, of which the last may have been cut off.
  mutating func takeLines(_ bytes: [UInt8]) {
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let document = try? JSONValue(parsing: line, options: .allowNUL) else { continue }
      if let words = document["step"]?.string { step = PlainText.line(words, limitBytes: 1 << 10) }
      if let outcome = document["result"] { result = outcome }
      if let item = document["item"] { items.append(item) }
    }
  }
}
