@testable import SluicePluginFile
import Testing

@testable import SluicePluginHost

struct PluginNoteTests {
  /// Returns the content of a note. The version is padded to 32 bytes.
  private func content(_ words: [UInt32] = [1, 2, 0], version: [UInt8] = Array("1.4.0".utf8)) -> [UInt8] {
    words.flatMap(Self.bytes) + version + [UInt8](repeating: 0, count: max(0, 32 - version.count))
  }

  /// Returns a section with one note, whose content begins at a multiple of `alignment`.
  private func section(
    _ content: [UInt8]? = nil, owner: String = "sluice", type: UInt32 = 1, alignment: Int = 4
  ) -> [UInt8] {
    let content = content ?? self.content()
    var bytes = [UInt32(owner.utf8.count + 1), UInt32(content.count), type].flatMap(Self.bytes)
    bytes += Array(owner.utf8) + [0]
    while !bytes.count.isMultiple(of: alignment) { bytes.append(0) }
    return bytes + content
  }

  private static func bytes(_ word: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }

  /// Returns why the content is not a valid note, or nil if it is valid.
  private func fault(_ content: [UInt8]) -> String? {
    do throws(PluginNote.Malformed) {
      _ = try PluginNote(section: section(content)[...])
      return nil
    } catch { return error.reason }
  }

  @Test func `the range of ABI revisions and the version are read from a note`() throws {
    let note = try #require(try PluginNote(section: section()[...]))
    #expect(note.abi == 1...2)
    #expect(note.version == "1.4.0")
  }

  @Test func `if the version in the note is empty, the table's version is used`() throws {
    let note = try #require(try PluginNote(section: section(content(version: []))[...]))
    #expect(note.version == nil)
  }

  @Test func `the content of a note that is aligned to 8 bytes is found`() throws {
    #expect(try PluginNote(section: section(alignment: 8)[...])?.abi == 1...2)
  }

  @Test func `if the content is longer, as in a newer revision, the known part is read`() throws {
    #expect(try PluginNote(section: section(content() + [9, 9, 9, 9])[...])?.version == "1.4.0")
  }

  @Test func `notes with other owners or types are skipped`() throws {
    let others = section([5, 0, 0, 0], owner: "GNU") + section([9, 0, 0, 0], type: 2)
    #expect(try PluginNote(section: (others + section())[...])?.abi == 1...2)
    #expect(try PluginNote(section: others[...]) == nil)
  }

  @Test(arguments: [[0, 1, 0], [2, 1, 0]] as [[UInt32]])
  func `an invalid range is a fault`(words: [UInt32]) {
    #expect(
      fault(content(words)) == "its range of ABI revisions, \(words[0]) to \(words[1]), is empty or begins with 0")
  }

  @Test func `content that ends before the end of the version is a fault`() {
    #expect(fault(Array(content().dropLast())) == "its content has 43 bytes, at least 44 are needed")
    #expect(fault([]) == "its content has 0 bytes, at least 44 are needed")
  }

  @Test(arguments: [
    "1", "1.4", "1.4.0.0", "v1.4.0", "01.4.0", "1.4.0-", "1.4.0-01", "1.4.0+", "1.4.0-a..b", "1.4.0 ", "1.4.ä",
    "1.-4.0",
    "1.4.0-a_b", "1.4.0\n", "1.4.0\u{1B}[2J",
  ])
  func `a version that is not a semantic version is a fault`(_ version: String) throws {
    let reason = try #require(fault(content(version: Array(version.utf8))))
    #expect(reason.hasPrefix("its version \"") && reason.hasSuffix("\" is not a semantic version such as 1.4.0"))
    #expect(reason.utf8.allSatisfy { $0 >= 0x20 }, "\(reason)")
  }

  @Test(arguments: ["0.0.0", "10.20.30", "1.4.0-rc.1", "1.4.0--", "1.4.0-0a", "1.4.0+001", "1.4.0-x-y+z.-"])
  func `every semantic version is accepted`(_ version: String) throws {
    let note = try PluginNote(section: section(content(version: Array(version.utf8)))[...])
    #expect(note?.version == version)
  }

  @Test
  func `a version of 31 characters is accepted, but a longer version, or bytes after the version's NUL, are a fault`()
    throws
  {
    let longest = "1.0.0-" + String(repeating: "a", count: 25)
    #expect(try PluginNote(section: section(content(version: Array(longest.utf8)))[...])?.version == longest)
    #expect(fault(content(version: Array((longest + "a").utf8))) == "its version does not end with a NUL")
    let hidden = Array("1.4.0".utf8) + [0] + Array("x".utf8)
    #expect(fault(content(version: hidden)) == "its version is followed by bytes other than NUL")
    #expect(fault(content(version: [0, 1])) == "its version is followed by bytes other than NUL")
  }

  @Test func `a version that is not UTF-8 is a fault`() {
    #expect(fault(content(version: [0x31, 0x2e, 0x34, 0x2e, 0xff])) != nil)
  }

  @Test func `a note that is cut off at any place is not found, and wrong sizes do not crash the reader`() throws {
    let whole = section()
    for length in 0..<whole.count { #expect(try PluginNote(section: whole.prefix(length)) == nil) }
    for position in 0..<8 {
      var wild = whole
      wild[position] = 0xff
      _ = try? PluginNote(section: wild[...])
    }
  }
}
