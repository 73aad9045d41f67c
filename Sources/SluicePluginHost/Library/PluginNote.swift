/// What a plugin says of itself in its ELF note, before any of its code runs (`note.h`).
public struct PluginNote: Sendable, Hashable {
  /// The ABI revisions that the plugin can be used with.
  public let abi: ClosedRange<UInt32>
  public let flags: UInt32
  public let features: HostFeatures
  /// `major.minor.patch`; nil in a note that ends before it.
  public let version: String?

  /// nil when the content is too short or its range makes no sense. Members that the content is too short for are 0,
  /// and content behind the known members is ignored: notes only grow at their end.
  init?(content: ArraySlice<UInt8>) {
    let words = stride(from: content.startIndex, to: content.endIndex - 3, by: 4).map {
      content.littleEndianWord(at: $0)
    }
    guard words.count >= 3, words[0] >= 1, words[0] <= words[1] else { return nil }
    abi = words[0]...words[1]
    flags = words[2]
    features = HostFeatures(rawValue: words.count > 3 ? words[3] : 0)
    version = words.count > 6 ? "\(words[4]).\(words[5]).\(words[6])" : nil
  }

  /// Finds the note in the content of a `.note.sluice` section.
  init?(section: ArraySlice<UInt8>) {
    for record in NoteRecords(section) where record.owner == "sluice" && record.type == 1 {
      guard let note = record.contents.lazy.compactMap({ PluginNote(content: $0) }).first else { return nil }
      self = note
      return
    }
    return nil
  }
}

/// One entry of a note section. Its content lies behind the owner's name, which is filled up to 4 bytes, or to 8 where
/// a compiler took the section's alignment for that of its parts; so there are two candidates.
struct NoteRecord {
  let owner: String
  let type: UInt32
  let contents: [ArraySlice<UInt8>]
}

/// The entries of a note section, read without trust in its sizes.
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

  /// No entry begins with a name of no bytes, so a zero word is what fills the gap to an 8-byte boundary.
  private mutating func skipPadding() {
    while rest.count >= 12, rest.littleEndianWord(at: rest.startIndex) == 0 { rest = rest.dropFirst(4) }
  }
}

extension ArraySlice<UInt8> {
  /// The caller has made sure that four bytes are there.
  func littleEndianWord(at index: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(self[index + $1]) << UInt32(8 * $1) }
  }
}

extension Int {
  func aligned(to alignment: Int) -> Int { (self + alignment - 1) / alignment * alignment }
}
