import SluiceTestKit
import Testing

/// `sluice plugin new` and `plugin build`. The Swift plugin is built by scripts/check-install.sh, against what is installed.
struct ScaffoldTests {
  private func run(_ folder: TemporaryDirectory, _ arguments: String...) async throws -> CommandResult {
    try await Command.run(
      Tool.path, arguments, environment: Tool.cleared, workingDirectory: folder.path, limit: Patience.limit)
  }

  @Test func `C7 a new plugin in C builds at once, and passes every check`() async throws {
    let folder = try TemporaryDirectory()
    let made = try await run(folder, "plugin", "new", "my-plugin")
    #expect(made.status == 0, "\(made.errorText)")
    let built = try await run(folder, "plugin", "build", "my-plugin")
    #expect(built.status == 0, "\(built.errorText)")
    let library = built.outputText.trimmed
    #expect(library.hasSuffix("/my-plugin/build/libmy-plugin.so"))
    let result = try await run(
      folder, "plugin", "validate", library, "--config", #"{"value": "hello"}"#, "--deadline", "120s")
    #expect(result.status == 0, "\(result.outputText)")
    #expect(result.outputText.contains("passed  self-tests"))
    #expect(result.outputText.contains("passed  exports-only-entry"))
  }

  @Test func `C7 the files of a new plugin are all there, and none is written over`() async throws {
    let folder = try TemporaryDirectory()
    for (language, files) in [
      ("c", ["plugin.c"]), ("swift", ["Package.swift", "Sources/InSwift/InSwift.swift"]),
    ] {
      let made = try await run(folder, "plugin", "new", "in-\(language)", "--lang", language)
      #expect(made.status == 0, "\(made.errorText)")
      for file in files + ["README.md", "Makefile", ".gitignore", "pipeline.json"] {
        let text = try FileTree.readText(folder.path("in-\(language)/\(file)"))
        #expect(!text.isEmpty)
      }
    }
    let again = try await run(folder, "plugin", "new", "in-c")
    #expect(again.status == 1)
    #expect(again.errorText.contains("there already"))
  }

  @Test(arguments: ["", "A", "a_b", "a b", "../a", "-a", "a--b", "a-", "1a", "ä", String(repeating: "a", count: 65)])
  func `a name that is none is refused`(_ name: String) async throws {
    let folder = try TemporaryDirectory()
    let result = try await run(folder, "plugin", "new", "--", name)
    #expect(result.status == 2)
    #expect(FileTree.names(in: folder.path).isEmpty)
  }

  @Test func `what the compiler says is passed on, and a failed build leaves the library that was there`() async throws
  {
    let folder = try TemporaryDirectory()
    _ = try await run(folder, "plugin", "new", "broken")
    let first = try await run(folder, "plugin", "build", "broken")
    let library = first.outputText.trimmed
    let before = try FileTree.read(library)
    _ = try folder.write("int broken = ;\n", to: "broken/plugin.c")
    let result = try await run(folder, "plugin", "build", "broken")
    #expect(result.status == 1)
    #expect(result.errorText.contains("plugin.c:1"))
    #expect(result.outputText.isEmpty)
    #expect(try FileTree.read(library) == before)
  }

  @Test func `a folder without a plugin, and a wrong option, are wrong usage`() async throws {
    let folder = try TemporaryDirectory()
    #expect(try await run(folder, "plugin", "build").status == 2)
    #expect(try await run(folder, "plugin", "build", "nowhere").status == 2)
    #expect(try await run(folder, "plugin", "build", "-c", "fast").status == 2)
    #expect(try await run(folder, "plugin", "new", "a", "--lang", "rust").status == 2)
    #expect(try await run(folder, "plugin", "new", "a", "--path", "nowhere").status == 2)
  }
}
