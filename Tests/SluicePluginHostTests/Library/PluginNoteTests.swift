import Testing

@testable import SluicePluginHost

struct PluginNoteTests {
  private static let content: [UInt32] = [1, 2, 0, 1, 1, 4, 0]

  /// A section with one note, its content at a multiple of `alignment`.
  private func section(
    _ content: [UInt32] = content, owner: String = "sluice", type: UInt32 = 1, alignment: Int = 4
  ) -> [UInt8] {
    var bytes = [UInt32(owner.utf8.count + 1), UInt32(content.count * 4), type].flatMap(Self.bytes)
    bytes += Array(owner.utf8) + [0]
    while !bytes.count.isMultiple(of: alignment) { bytes.append(0) }
    return bytes + content.flatMap(Self.bytes)
  }

  private static func bytes(_ word: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }

  @Test func `a note gives range, features and version`() throws {
    let note = try #require(PluginNote(section: section()[...]))
    #expect(note.abi == 1...2)
    #expect(note.features.names == ["suspend"])
    #expect(note.version == "1.4.0")
  }

  @Test func `content that is filled up to 8 bytes is found`() {
    #expect(PluginNote(section: section(alignment: 8)[...])?.abi == 1...2)
  }

  @Test func `content of a newer revision is read as far as it is known`() {
    #expect(PluginNote(section: section(Self.content + [9, 9])[...])?.version == "1.4.0")
  }

  @Test func `members that a short note lacks are zero, three must be there`() {
    let note = PluginNote(section: section([1, 1, 0])[...])
    #expect(note?.features == [])
    #expect(note?.version == nil)
    #expect(PluginNote(section: section([1, 1])[...]) == nil)
  }

  @Test func `notes of other owners and types are passed over`() {
    let others = section([5], owner: "GNU") + section([9, 9, 9], type: 2)
    #expect(PluginNote(section: (others + section())[...])?.abi == 1...2)
    #expect(PluginNote(section: others[...]) == nil)
  }

  @Test(arguments: [[0, 1, 0], [2, 1, 0]] as [[UInt32]])
  func `a range that makes no sense is no note`(content: [UInt32]) {
    #expect(PluginNote(section: section(content)[...]) == nil)
  }

  @Test func `a note cut off anywhere, or with wild sizes, is no note`() {
    let whole = section()
    for length in 0..<whole.count { #expect(PluginNote(section: whole.prefix(length)) == nil) }
    for position in 0..<8 {
      var wild = whole
      wild[position] = 0xff
      _ = PluginNote(section: wild[...])
    }
  }

  @Test func `a feature of a newer host is named by its number`() {
    #expect(HostFeatures(rawValue: 1 << 31).names == ["feature 2147483648 of a newer host"])
  }
}
