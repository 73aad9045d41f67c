import Glibc
@testable import SluicePluginFile
import SluiceTestKit
import Testing

@testable import SluicePluginHost

struct PreflightTests {
  private func refusal(of bytes: [UInt8]) throws -> PluginError? {
    let folder = try TemporaryDirectory()
    let path = try folder.write(bytes, to: "a.so")
    chmod(path, 0o644)
    return FixturePreflight.refusal(ofFile: path)
  }

  private func minimal() async throws -> [UInt8] {
    let product = try await PluginCompiler.compile("minimal", flags: ["-s"])
    return try withExtendedLifetime(product) { try FileTree.read(product.path) }
  }

  /// Returns why preflight refuses the bytes of a library, or nil. No file is needed.
  private func judge(_ bytes: [UInt8]) throws -> PluginError? {
    do {
      let hash = try #require(ContentHash(of: []))
      let facts = try bytes.withUnsafeBytes {
        try LibraryFacts(bytes: $0, hash: hash, path: "a.so", folder: "/nowhere")
      }
      return facts.refusal(at: "a.so")
    } catch let error as PluginError {
      return error
    }
  }

  @Test func `preflight finds the facts of a correct plugin`() async throws {
    let facts = try await FixturePreflight.facts("minimal", flags: ["-Wl,-soname,libminimal.so.1", "-Wl,--build-id"])
    #expect(facts.machine == MachineName.of(MachineName.host))
    #expect(facts.note?.version == "1.0.0")
    #expect(facts.soname == "libminimal.so.1")
    #expect(facts.needed.contains("libc.so.6"))
    #expect(facts.buildID?.utf8.count == 40)
    #expect(facts.language == .c)
    #expect(facts.exportedSymbolCount == 1)
    #expect(facts.warnings == [])
  }

  @Test func `a C library that SwiftPM links with Swift's runtime, which it does not use, counts as C`()
    async throws
  {
    let runtime = try await PluginCompiler.compile("no-entry", flags: ["-Wl,-soname,libswiftCore.so"])
    let facts = try await FixturePreflight.facts("minimal", flags: ["-Wl,--no-as-needed", runtime.path])
    #expect(facts.needed.contains("libswiftCore.so"))
    #expect(facts.language == .c)
  }

  @Test func `an empty file is refused`() throws {
    #expect(try refusal(of: [])?.says("is empty") == true)
  }

  @Test func `a file of zeros with the final size counts as a file that is still being written`() async throws {
    let error = try judge([UInt8](repeating: 0, count: try await minimal().count))
    #expect(error?.code == .truncated && error?.mayBeBeingWritten == true)
    #expect(error?.says("begins with zeros (not written yet)") == true, "\(String(describing: error))")
  }

  @Test func `a text file is refused`() throws {
    #expect(try refusal(of: Array("#!/bin/sh\nexit 0\n".utf8))?.says("is not an ELF file") == true)
  }

  @Test func `a library truncated at any length is refused before the loader sees it`() async throws {
    let whole = try await minimal()
    #expect(try judge(whole) == nil)
    for length in 0..<whole.count {
      let error = try judge(Array(whole.prefix(length)))
      #expect(error?.code == .truncated, "at \(length) of \(whole.count): \(String(describing: error))")
    }
  }

  @Test func `a library that is damaged at any place never crashes preflight`() async throws {
    let whole = try await minimal()
    // The test damages every byte of the tables that preflight reads, and a sample of all other bytes.
    let headers = Array(0..<1024) + Array((whole.count - 2048)..<whole.count)
    for position in headers + Array(stride(from: 1024, to: whole.count - 2048, by: 61)) {
      var damaged = whole
      damaged[position] ^= 0xff
      _ = try judge(damaged)
    }
  }

  @Test func `a library for another machine is refused, and the error names both machines`() async throws {
    var bytes = try await minimal()
    let other: UInt8 = MachineName.host == 183 ? 62 : 183
    bytes[18] = other
    let error = try refusal(of: bytes)
    #expect(error?.code == .wrongMachine)
    #expect(error?.says(MachineName.of(UInt16(other)), "this host is \(MachineName.of(MachineName.host))") == true)
  }

  @Test func `a 32-bit library and a big-endian library are refused`() async throws {
    var bytes = try await minimal()
    (bytes[4], bytes[18]) = (1, 3)
    #expect(try refusal(of: bytes)?.says("built for x86 (i386), 32-bit") == true)
    (bytes[4], bytes[5]) = (2, 2)
    #expect(try refusal(of: bytes)?.says("a big-endian machine") == true)
  }

  @Test func `an object file and a program are refused`() async throws {
    var bytes = try await minimal()
    bytes[16] = 1
    #expect(try refusal(of: bytes)?.says("is an object file") == true)
    #expect(FixturePreflight.refusal(ofFile: "/bin/sh")?.says("is a program") == true)
  }

  @Test(arguments: [
    ("no-entry", "does not define sluice_plugin_entry"), ("hidden-entry", "does not export it"),
    ("entry-is-data", "it is not a function"),
    ("refers-to-entry", "does not define sluice_plugin_entry itself"),
  ])
  func `a library without an entry point of its own is refused`(behaviour: String, words: String) async throws {
    let error = try await FixturePreflight.refusal(behaviour)
    #expect(error?.code == .noEntry)
    #expect(error?.says(words) == true, "\(String(describing: error))")
  }

  @Test func `a library without a note is refused, and the error says how to add a note`() async throws {
    let error = try await FixturePreflight.refusal("no-note")
    #expect(error?.code == .noNote)
    #expect(error?.says("has no note", "SLUICE_PLUGIN(", "SluicePlugin") == true)
  }

  @Test func `a library for other ABI revisions is refused because of its note`() async throws {
    let error = try await FixturePreflight.refusal("own-note", defines: ["ABI_MIN=2", "ABI_MAX=4"])
    #expect(error?.code == .abiMismatch)
    #expect(error?.says("built for ABI 2 to 4, this host speaks ABI 1") == true)
  }

  @Test func `a flag of the note that this host does not know is refused`() async throws {
    let error = try await FixturePreflight.refusal("own-note", defines: ["FLAGS=0x12"])
    #expect(error?.code == .abiMismatch)
    #expect(error?.says("flags 0x12", "update the host") == true)
  }

  @Test func `a library that requires missing features is refused before it is loaded`() async throws {
    let error = try await FixturePreflight.refusal("own-note", defines: ["REQUIRES=\"frobnicate\""])
    #expect(error?.code == .missingFeature)
    #expect(error?.says("requires the host feature \"frobnicate\", which the host sluice does not offer") == true)
    #expect(try await FixturePreflight.facts("own-note", defines: ["REQUIRES=\"retry\""]).note != nil)
  }

  @Test func `a note with an invalid version is refused, and the message names the version`() async throws {
    let error = try await FixturePreflight.refusal("own-note", defines: ["VERSION=\"2.3\""])
    #expect(error?.code == .noNote)
    #expect(error?.says("its version \"2.3\" is not a semantic version") == true)
  }

  @Test func `the macros make the same note in C++, and no code runs when the library is loaded`() async throws {
    let facts = try await FixturePreflight.facts("in-cxx")
    #expect(facts.language == .cPlusPlus)
    #expect(facts.note?.version == "1.0.0")
    #expect(facts.requiredFeatures.names == ["rewrite"])
    let source = RepositoryRoot.path("Tests/Fixtures/Plugins/declared-in-cxx/plugin.cc")
    let folder = try TemporaryDirectory()
    let object = folder.path("plugin.o")
    try await Command.check(
      "c++", ["-std=c++17", "-fPIC", "-I", RepositoryRoot.path("include"), "-c", source, "-o", object])
    let sections = try await Command.check("readelf", ["--wide", "--sections", object]).outputText
    #expect(sections.contains(".note.sluice") && !sections.contains(".init_array"), "\(sections)")
  }

  @Test(arguments: [[], ["ALIGNMENT=8"], ["ALIGNMENT=8", "PADDED"], ["ALIGNMENT=16"]])
  func `the note is found with any alignment that a compiler gives it`(defines: [String]) async throws {
    #expect(try await FixturePreflight.facts("own-note", defines: defines).note?.version == "2.3.4")
  }

  @Test(arguments: ["LINKAGE=", "LINKAGE=__attribute__((visibility(\"hidden\"),used))"])
  func `a library with its own jansson is refused`(linkage: String) async throws {
    let error = try await FixturePreflight.refusal("own-jansson", defines: [linkage])
    #expect(error?.code == .ownJansson)
    #expect(error?.says("carries its own jansson", "json_object_set_new", "libjansson.so.4") == true)
  }

  @Test(arguments: ["EXPORTED", "MIXED"])
  func `a library whose own Swift runtime is visible or incomplete is refused`(how: String) async throws {
    let error = try await FixturePreflight.refusal("own-swift-runtime", defines: [how])
    #expect(error?.code == .mixedRuntimes)
    #expect(error?.says(how == "EXPORTED" ? "swift_retain" : "swift_release", "--static-stdlib") == true)
  }

  @Test func `a library whose own Swift runtime is hidden is accepted`() async throws {
    let facts = try await FixturePreflight.facts("own-swift-runtime")
    #expect(facts.swiftRuntime == .own)
    #expect(facts.language == .swift)
    #expect(facts.warnings.isEmpty)
    #expect(try await FixturePreflight.facts("minimal").swiftRuntime == nil)
  }

  @Test func `symbols that keep the first generation's variables cause a warning`() async throws {
    let warnings = try await FixturePreflight.facts("unique-symbol").warnings
    #expect(warnings.contains { $0.contains("fixture_unique") })
  }

  @Test func `a helper library in the plugin's own folder causes a warning`() async throws {
    let folder = try TemporaryDirectory()
    let helper = folder.path("libhelper.so")
    let dependency = try await PluginCompiler.compile("no-entry", flags: ["-Wl,-soname,libhelper.so"])
    _ = try folder.write(try FileTree.read(dependency.path), to: "libhelper.so")
    let product = try await PluginCompiler.compile(
      "minimal", flags: ["-Wl,--no-as-needed", helper, "-Wl,-rpath,$ORIGIN"])
    let path = try folder.write(try FileTree.read(product.path), to: "libminimal.so")
    chmod(path, 0o755)
    let facts = try Preflight.facts(of: LibraryImage(reading: path))
    #expect(facts.privateLibraries == ["libhelper.so"])
  }
}
