import SluiceTestKit
import Testing

@Suite struct SurroundingsTests {
  @Test func `a temporary directory is removed with its content`() throws {
    var directory: TemporaryDirectory? = try TemporaryDirectory()
    let path = try #require(directory?.path)
    try directory?.makeFolder("inner")
    try directory?.write("text", to: "inner/file")
    try directory?.writeSparse(byteCount: 1 << 30, to: "big")
    #expect(try FileTree.readText("\(path)/inner/file") == "text")
    #expect(FileTree.names(in: path) == ["big", "inner"])
    directory = nil
    #expect(!FileTree.exists(path))
  }

  @Test func `the repository is found`() {
    #expect(FileTree.exists(RepositoryRoot.path("Package.swift")))
  }

  @Test func `a C plugin is compiled against the public headers, with its defines`() async throws {
    let product = try await PluginCompiler.compile(
      source: "#include <sluice/sluice.h>\nint answer(void);\nint answer(void) { return ANSWER; }\n",
      name: "answer", defines: ["ANSWER=42"])
    #expect(product.path.hasSuffix("/libanswer.so"))
    #expect(FileTree.exists(product.path))
  }

  @Test func `the error for a plugin that does not compile has the compiler's message`() async {
    let error = await #expect(throws: TestKitError.self) {
      try await PluginCompiler.compile(source: "int unused(int x) { return 0; }", name: "warned")
    }
    #expect(error?.description.contains("unused") == true)
  }

  @Test func `threads, descriptors and memory of the process are reported`() throws {
    let facts = ProcessFacts()
    #expect(try #require(facts.residentBytes) > 1_000_000)
    #expect(try #require(facts.peakResidentBytes) >= 1_000_000)
    #expect(facts.openDescriptorCount >= 3)
    #expect(facts.threadCount >= 1)
    #expect(ProcessFacts(of: 1 << 30).residentBytes == nil)
  }

  @Test func `the descriptor limit is never lowered`() {
    let before = DescriptorLimit.raise(to: 1)
    #expect(DescriptorLimit.raise(to: 2048) >= min(before, 2048))
  }
}
