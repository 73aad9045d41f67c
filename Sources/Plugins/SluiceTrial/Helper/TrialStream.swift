import Glibc
import SluiceJSON
import SluiceMessages
import SluiceSupport

/// The output of one of the child's streams. It is read to the end, so that the child never waits for a reader. Only a
/// part of it is kept, so that the supervisor's memory does not grow.
struct TrialStream {
  /// The kept size: enough for the message of a failed check in Swift and the 128 stack frames that the runtime lists
  /// after it.
  private static let keptBytes = 16 << 10
  private static let roomBytes = 1 << 20
  /// The limit for the child's channel.
  static let channelRoomBytes = 32 << 20

  private let roomBytes: Int
  private let descriptor: CInt
  private var isOpen = true
  private var count = 0
  /// The last part of the output.
  private(set) var bytes: [UInt8] = []

  init(descriptor: CInt, roomBytes: Int = Self.roomBytes) {
    self.descriptor = descriptor
    self.roomBytes = roomBytes
  }

  /// The descriptor; -1, which poll(2) ignores, after the end of the stream.
  var pollDescriptor: CInt { isOpen ? descriptor : -1 }

  var output: TrialReport.Output { TrialReport.Output(byteCount: count, tail: Array(bytes.suffix(Self.keptBytes))) }

  /// Reads the available bytes. Waits if there are none.
  mutating func read() {
    guard let piece = DescriptorPiece.read(descriptor), !piece.isEmpty else {
      isOpen = false
      return
    }
    count += piece.count
    bytes += piece
    if bytes.count > 2 * roomBytes { bytes.removeFirst(bytes.count - roomBytes) }
  }

  /// Reads the rest, after all writers have ended.
  mutating func readRest() {
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    while isOpen { read() }
  }
}

extension TrialReport {
  /// Takes the lines from the child's channel. The last line can be incomplete.
  mutating func takeLines(_ bytes: [UInt8]) {
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let document = try? JSONValue(parsing: line, options: .allowNUL) else { continue }
      if let words = document["step"]?.string { step = PlainText.line(words, limitBytes: 1 << 10) }
      if let outcome = document["result"] { result = outcome }
      if let item = document["item"] { items.append(item) }
    }
  }
}
