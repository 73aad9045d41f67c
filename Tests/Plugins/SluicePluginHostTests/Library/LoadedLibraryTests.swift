import CSluice
import Glibc
@testable import SluicePluginFile
import SluiceTestKit
import Testing

@testable import SluicePluginHost

struct LoadedLibraryTests {
  private let fixture: LibraryFixture

  init() throws { fixture = try LibraryFixture() }

  private func loadError(_ path: String) async throws -> PluginError? {
    do {
      _ = try fixture.loader.stage(path).load()
      return nil
    } catch {
      return error
    }
  }

  private func counter(_ generation: PluginGeneration) throws -> UnsafeMutablePointer<CInt> {
    let found = try #require("fixture.counter".withCString { generation.table.extension($0) })
    return UnsafeMutableRawPointer(mutating: found).assumingMemoryBound(to: CInt.self)
  }

  @Test func `if builds A, B and A are loaded in turn, there are three mappings with separate static variables`()
    async throws
  {
    let a = try await PluginCompiler.compile("minimal", defines: ["VALUE=1"])
    let b = try await PluginCompiler.compile("minimal", defines: ["VALUE=2"])
    let first = try await fixture.generation(of: a.path)
    try counter(first).pointee = 40
    let second = try await fixture.generation(of: b.path)
    let third = try await fixture.generation(of: a.path)
    #expect(try [first, second, third].map { try counter($0).pointee } == [40, 2, 1])
    #expect([first, second, third].map(\.number) == [1, 1, 2])
    #expect(first.hash == third.hash)
  }

  @Test func `a library whose pages were given back to the kernel keeps its variables and its code`() async throws {
    let product = try await PluginCompiler.compile("minimal", defines: ["VALUE=5"])
    let generation = try await fixture.generation(of: product.path)
    try counter(generation).pointee = 40
    LoadedLibrary.pageOut(try #require(generation.library).entry)
    #expect(try counter(generation).pointee == 40)
  }

  @Test func `overwriting a library's file after the load does not change the loaded code`() async throws {
    let product = try await PluginCompiler.compile("minimal", defines: ["VALUE=7"])
    let generation = try await fixture.generation(of: product.path)
    let file = open(product.path, O_WRONLY | O_TRUNC)
    #expect(file >= 0)
    close(file)
    #expect(try counter(generation).pointee == 7)
    #expect(try generation.interceptor()?.on_request != nil)
  }

  @Test func `the error names a missing symbol`() async throws {
    let product = try await PluginCompiler.compile("undefined-symbol")
    let error = try await loadError(product.path)
    #expect(error?.code == .loadFailed)
    #expect(error?.says(product.path, "undefined symbol: fixture_nobody_has_this") == true)
    #expect(error?.description.contains(fixture.store.path) == false)
  }

  @Test func `the error names a missing library`() async throws {
    let helper = try await PluginCompiler.compile("no-entry", flags: ["-Wl,-soname,libfixture-gone.so"])
    let product = try await PluginCompiler.compile("minimal", flags: ["-Wl,--no-as-needed", helper.path])
    let error = try await loadError(product.path)
    #expect(error?.code == .loadFailed)
    #expect(error?.says("libfixture-gone.so", "cannot open shared object file") == true)
  }

  @Test func `an entry point that a dependency defines is also refused by the load itself`() async throws {
    let helper = try await PluginCompiler.compile("minimal")
    let product = try await PluginCompiler.compile("no-entry", flags: ["-Wl,--no-as-needed", helper.path])
    // The library is loaded without the preflight, which would refuse it.
    let image = try LibraryImage(reading: product.path)
    let refusal = #expect(throws: PluginError.self) { _ = try Preflight.facts(of: image) }
    #expect(refusal?.code == .noEntry)
    let facts = try LibraryFacts(of: image)
    let copy = try fixture.store.stage(image)
    let error = #expect(throws: PluginError.self) {
      _ = try LoadedLibrary.load(copy, facts: facts, path: product.path)
    }
    #expect(error?.says("comes from another library") == true)
  }

  @Test func `a load that returns an old mapping instead of the new copy is refused`() async throws {
    let a = try await PluginCompiler.compile("minimal", defines: ["VALUE=1"])
    let first = try fixture.loader.stage(a.path).load()
    // A new file at a path that the loader already knows. The loader then returns the old mapping.
    let b = try await PluginCompiler.compile("minimal", defines: ["VALUE=2"])
    let bytes = try FileTree.read(b.path)
    let new = try fixture.folder.write(bytes, to: "new.so")
    #expect(rename(new, first.stored.path) == 0)
    let copy = try copy(like: first.stored)
    let facts = first.facts
    let error = #expect(throws: PluginError.self) {
      _ = try LoadedLibrary.load(copy, facts: facts, path: b.path)
    }
    #expect(error?.code == .oldMapping)
    // The failed load has released its own reference, and the first library still works.
    #expect(try LibraryFixture.enter(first).id == "fixture")
  }

  /// Returns another stored plugin with the same path and the same hash.
  private func copy(like original: StoredPlugin) throws -> StoredPlugin {
    try StoredPlugin(borrowing: original.path, hash: original.hash)
  }

  @Test func `constructors run on a separate thread`() async throws {
    let product = try await PluginCompiler.compile("constructor-thread")
    let library = try fixture.loader.stage(product.path).load()
    let error = #expect(throws: PluginError.self) { try LibraryFixture.enter(library) }
    #expect(error?.reason == "another thread")
  }

  @Test func `a mapped copy stays in the store, and stays locked, after its last reference is released`() async throws {
    let product = try await PluginCompiler.compile("minimal", defines: ["VALUE=3"])
    let path = try fixture.loader.stage(product.path).load().stored.path
    fixture.store.prune()
    #expect(FileTree.exists(path))
  }

  @Test func `a copy that could not be mapped is removed`() async throws {
    let product = try await PluginCompiler.compile("undefined-symbol")
    _ = try await loadError(product.path)
    #expect(FileTree.names(in: fixture.store.path) == [])
  }

  @Test func `device and inode are read from a line of the kernel's table of mappings`() {
    let text = """
      7f0000000000-7f0000001000 r--p 00000000 08:01 1234                       /tmp/a b.so
      7f0000001000-7f0000002000 rw-p 00000000 00:00 0
      """
    let table = Array(text.utf8)
    #expect(MappedFile.identity(of: 0x7f00_0000_0fff, in: table) == "08:01 1234")
    #expect(MappedFile.identity(of: 0x7f00_0000_1000, in: table) == "00:00 0")
    #expect(MappedFile.identity(of: 0x7f00_0000_2000, in: table) == nil)
    #expect(MappedFile.identity(of: 0x7f00_0000_0000, in: []) == nil)
    #expect(MappedFile.identity(of: 0x7f00_0000_0000, in: Array("7f0000000000-7f0000001000 r--p".utf8)) == nil)
  }
}
