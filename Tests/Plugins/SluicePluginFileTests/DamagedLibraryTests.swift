import Glibc
@testable import SluiceCrash
@testable import SluicePluginFile
import SluiceTestKit
import Testing

@testable import SluicePluginHost

/// Libraries in which one number is wrong. The reader must never crash, and the message must name the problem.
struct DamagedLibraryTests {
  private func minimal(_ flags: [String] = []) async throws -> LibraryBytes {
    let names = ["-Wl,-soname,libminimal.so", "-Wl,-rpath,/nowhere", "-Wl,--build-id"]
    let product = try await PluginCompiler.compile("minimal", flags: names + flags)
    return try withExtendedLifetime(product) { LibraryBytes(try FileTree.read(product.path)) }
  }

  private func judge(_ library: LibraryBytes) -> PluginError? {
    do throws(PluginError) {
      return try LibraryFacts(bytes: library.bytes, path: "a.so").refusal(at: "a.so")
    } catch { return error }
  }

  private static let (needed, soname, runPath): (UInt64, UInt64, UInt64) = (1, 14, 29)

  @Test(arguments: [needed, soname, runPath], [1 << 63, .max, 1 << 40])
  func `a dynamic entry with an offset out of range is ignored`(_ tag: UInt64, _ offset: UInt64) async throws {
    var library = try await minimal()
    #expect(judge(library) == nil)
    let entry = try #require(library.dynamicEntries.first { $0.tag == tag })
    library.write(offset, at: entry.valuePlace, width: 8)
    #expect(judge(library) == nil)
  }

  @Test func `preflight does not crash, whatever number a header or table of a library contains`() async throws {
    let whole = try await minimal()
    let headers = Array(stride(from: 16, to: 64, by: 2)).map { ($0, 2) }
    let entries = (whole.segments.map(\.header) + whole.sections.map(\.header)).flatMap { header in
      stride(from: header, to: header + 56, by: 8).map { ($0, 8) }
    }
    let dynamic = whole.dynamicEntries.flatMap { [($0.tagPlace, 8), ($0.valuePlace, 8)] }
    for (place, width) in headers + entries + dynamic {
      for number: UInt64 in [0, 1, 0x7FFF_FFFF_FFFF_FFFF, 1 << 63, .max, .max - 7] {
        var library = whole
        library.write(number, at: place, width: width)
        _ = judge(library)
      }
    }
  }

  @Test func `a segment that needs too much memory is refused`() async throws {
    var library = try await minimal()
    let segment = try #require(library.segments.last { $0.type == LibraryBytes.load })
    for size: UInt64 in [1 << 40, 1 << 62, .max] {
      library.write(size, at: segment.memorySizePlace, width: 8)
      let error = judge(library)
      #expect(
        error?.code == .tooLarge && error?.says("bytes of memory (segment ") == true, "\(String(describing: error))")
    }
    library.write(0, at: segment.memorySizePlace, width: 8)
    #expect(judge(library)?.says("is damaged", "bytes in the file and 0 in memory") == true)
  }

  @Test func `a library whose notes are in no segment of notes is refused as damaged`() async throws {
    var library = try await minimal()
    for note in library.segments where note.type == LibraryBytes.note {
      library.write(LibraryBytes.interpreter, at: note.typePlace, width: 4)
    }
    let error = judge(library)
    #expect(error?.code == .damaged)
    #expect(
      error?.says("its build id ", "in no segment of notes", "build it again") == true, "\(String(describing: error))")
  }

  @Test func `notes outside of the loaded segments are refused as damage`() async throws {
    var library = try await minimal()
    let note = try #require(library.segment(LibraryBytes.note))
    library.write(1 << 30, at: note.addressPlace, width: 8)
    #expect(judge(library)?.says("is damaged: its notes") == true)
  }

  /// Returns the addresses of a segment in memory.
  private func memory(of segment: LibraryBytes.Segment, in library: LibraryBytes) -> Range<UInt64> {
    let start = library.number(at: segment.addressPlace, width: 8)
    return start..<start + library.number(at: segment.memorySizePlace, width: 8)
  }

  @Test(arguments: [(LibraryBytes.note, "notes"), (LibraryBytes.dynamic, "dynamic entries")])
  func `notes or dynamic entries that exceed a loaded segment are refused as damage`(
    _ type: UInt64, _ name: String
  ) async throws {
    let whole = try await minimal()
    let part = try #require(whole.segment(type))
    for segment in whole.segments where segment.type == LibraryBytes.load {
      var library = whole
      library.write(memory(of: segment, in: whole).upperBound - 1, at: part.addressPlace, width: 8)
      #expect(judge(library)?.says("is damaged: its \(name)", "lie outside of the loaded segments") == true)
    }
  }

  @Test func `notes in an unreadable segment are refused as damage`() async throws {
    let whole = try await minimal()
    let notes = memory(of: try #require(whole.segment(LibraryBytes.note)), in: whole)
    let loaded = whole.segments.filter { $0.type == LibraryBytes.load }
    let home = try #require(loaded.first { memory(of: $0, in: whole).contains(notes.lowerBound) })
    var library = whole
    library.write(0, at: home.flagsPlace, width: 4)
    #expect(judge(library)?.says("is damaged: its ", "lie outside of the loaded segments") == true)
  }

  @Test func `a program header outside of the loaded segments is refused as damage`() async throws {
    var library = try await minimal()
    let segment = try #require(library.segment(LibraryBytes.stack))
    // PT_PHDR.
    library.write(6, at: segment.typePlace, width: 4)
    library.write(1 << 30, at: segment.addressPlace, width: 8)
    #expect(judge(library)?.says("is damaged: its program headers") == true)
  }

  @Test func `an executable stack is found, and a missing declaration of the stack counts as executable`()
    async throws
  {
    var library = try await minimal()
    let stack = try #require(library.segment(LibraryBytes.stack))
    library.write(7, at: stack.flagsPlace, width: 4)
    #expect(judge(library)?.code == .unsafeMemory)
    library.write(6, at: stack.flagsPlace, width: 4)
    #expect(judge(library) == nil)
    library.write(0, at: stack.typePlace, width: 4)
    #expect(judge(library)?.says("makes the stacks of the whole process executable") == true)
  }

  @Test func `writable code is found in segments and in text relocations`() async throws {
    var library = try await minimal()
    let segment = try #require(library.segments.first { $0.type == LibraryBytes.load })
    let flags = library.number(at: segment.flagsPlace, width: 4)
    library.write(7, at: segment.flagsPlace, width: 4)
    #expect(judge(library)?.says("code that is writable") == true)
    library.write(flags, at: segment.flagsPlace, width: 4)
    // Writes DT_TEXTREL in place of DT_SONAME.
    let entry = try #require(library.dynamicEntries.first { $0.tag == Self.soname })
    library.write(22, at: entry.tagPlace, width: 8)
    let error = judge(library)
    #expect(error?.says("code that is writable", "\"allow\": [\"writableCode\"]") == true)
    let facts = try LibraryFacts(bytes: library.bytes, path: "a.so")
    #expect(facts.refusal(by: HostOffer(allowed: [.writableCode]), at: "a.so") == nil)
  }

  @Test func `if the segments of a file end out of range, no symbols are looked up in the file`() async throws {
    var library = try await minimal()
    for segment in library.segments where segment.type == LibraryBytes.load {
      library.write(.max, at: segment.fileSizePlace, width: 8)
      library.write(.max - 1, at: segment.header + 8, width: 8)
    }
    let folder = try TemporaryDirectory()
    let path = try folder.write(library.bytes, to: "a.so")
    #expect(SymbolTable(path: path, offsets: [0x1000])?.address(of: 0x1000) == nil)
  }
}
