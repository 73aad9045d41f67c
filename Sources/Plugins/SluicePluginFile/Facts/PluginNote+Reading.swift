import SluiceMessages
import SluicePluginHost

extension PluginNote {
  /// Why a note or a requirement cannot be used, as a sentence without a full stop.
  struct Malformed: Error, Hashable {
    let reason: String
  }

  /// The size of the content in ABI 1. Bytes after these are ignored: later ABIs add members only at the end of a note.
  static let contentBytes = 44
  private static let versionBytes = 12..<44

  /// Finds the note in the content of a `.note.sluice` section; nil if the section has none.
  init?(section: ArraySlice<UInt8>) throws(Malformed) {
    guard let record = NoteRecords(section).first(where: { $0.owner == "sluice" && $0.type == 1 }) else { return nil }
    // Content that begins with zero is padding, because no plugin has ABI 0.
    let content = record.contents.first { $0.count >= 4 && $0.littleEndianWord(at: $0.startIndex) > 0 }
    try self.init(content: content ?? record.contents[0])
  }

  init(content: ArraySlice<UInt8>) throws(Malformed) {
    guard content.count >= Self.contentBytes else {
      throw Malformed(reason: "its content has \(content.count) bytes, at least \(Self.contentBytes) are needed")
    }
    let words = [0, 4, 8].map { content.littleEndianWord(at: content.startIndex + $0) }
    guard words[0] >= 1, words[0] <= words[1] else {
      throw Malformed(reason: "its range of ABI revisions, \(words[0]) to \(words[1]), is empty or begins with 0")
    }
    let version = content.dropFirst(Self.versionBytes.lowerBound).prefix(Self.versionBytes.count)
    self.init(abi: words[0]...words[1], flags: words[2], version: try Self.version(Array(version)))
  }

  private static func version(_ field: [UInt8]) throws(Malformed) -> String? {
    let bytes = field.prefix { $0 != 0 }
    guard bytes.count < field.count else { throw Malformed(reason: "its version does not end with a NUL") }
    guard field[bytes.count...].allSatisfy({ $0 == 0 }) else {
      throw Malformed(reason: "its version is followed by bytes other than NUL")
    }
    guard !bytes.isEmpty else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    guard bytes.allSatisfy({ (0x20...0x7e).contains($0) }), SemanticVersion.isValid(text) else {
      throw Malformed(reason: "its version \(PlainText.quote(text)) is not a semantic version such as 1.4.0")
    }
    return text
  }
}

/// One entry of a note section. Its content follows the owner's name, which is padded to 4 bytes. Some compilers pad
/// the name to 8 bytes, the alignment of the section. So its content can begin at two positions.
struct NoteRecord {
  let owner: String
  let type: UInt32
  let contents: [ArraySlice<UInt8>]
}

/// The entries of a note section; every size in it is checked.
struct NoteRecords: Sequence, IteratorProtocol {
  private var rest: ArraySlice<UInt8>

  init(_ section: ArraySlice<UInt8>) { rest = section }

  mutating func next() -> NoteRecord? {
    skipPadding()
    guard rest.count >= 12 else { return nil }
    let start = rest.startIndex
    let nameSize = Int(rest.littleEndianWord(at: start))
    let contentSize = Int(rest.littleEndianWord(at: start + 4))
    let type = rest.littleEndianWord(at: start + 8)
    guard nameSize <= rest.count - 12 else { return nil }
    let name = rest[(start + 12)..<(start + 12 + nameSize)].prefix { $0 != 0 }
    let contents = [4, 8].compactMap { content(at: 12 + nameSize, alignment: $0, size: contentSize) }
    guard let first = contents.first else { return nil }
    rest = rest[Swift.min((first.endIndex - start).aligned(to: 4) + start, rest.endIndex)...]
    return NoteRecord(owner: String(decoding: name, as: UTF8.self), type: type, contents: contents)
  }

  private func content(at offset: Int, alignment: Int, size: Int) -> ArraySlice<UInt8>? {
    let begin = offset.aligned(to: alignment)
    guard begin <= rest.count, size <= rest.count - begin else { return nil }
    return rest[(rest.startIndex + begin)..<(rest.startIndex + begin + size)]
  }

  /// No entry begins with an empty name, so a zero word is padding up to an 8-byte boundary.
  private mutating func skipPadding() {
    while rest.count >= 12, rest.littleEndianWord(at: rest.startIndex) == 0 { rest = rest.dropFirst(4) }
  }
}

extension ArraySlice<UInt8> {
  /// The caller must make sure that four bytes are available.
  func littleEndianWord(at index: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(self[index + $1]) << UInt32(8 * $1) }
  }
}

extension Int {
  func aligned(to alignment: Int) -> Int { (self + alignment - 1) / alignment * alignment }
}
