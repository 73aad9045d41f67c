import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// `sluice plugin new` and `plugin build`. The script scripts/check-install.sh builds the Swift plugin, against the
/// installed SDK.
struct ScaffoldTests {
  private func run(_ folder: TemporaryDirectory, _ arguments: String...) async throws -> CommandResult {
    try await Command.run(
      Tool.path, arguments, environment: Tool.cleared, workingDirectory: folder.path, limit: Patience.limit)
  }

  @Test(arguments: ["c", "cpp"])
  func `a new plugin in C or C++ builds at once, and passes every check`(_ language: String) async throws {
    let folder = try TemporaryDirectory()
    let made = try await run(folder, "plugin", "new", "my-plugin", "--lang", language)
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

  @Test func `the advice of plugin new works: the pipeline is valid, and dev serves the plugin`() async throws {
    let folder = try TemporaryDirectory()
    _ = try await run(folder, "plugin", "new", "tenant")
    let built = try await run(folder, "plugin", "build", "tenant")
    #expect(built.status == 0, "\(built.errorText)")
    let file = folder.path("tenant/pipeline.json")
    let document = try JSONValue(parsing: FileTree.read(file))
    #expect(document["transport"]?["baseURL"]?.string == "http://127.0.0.1:8080", "that of sluice echo --port 8080")
    let environment = DevRun.environment(folder)
    let checked = try await Command.run(Tool.path, ["check", "-c", file], environment: environment)
    #expect(checked.status == 0, "\(checked.errorText)")
    let dev = try Command(
      Tool.path, ["dev", "--json", "-c", file, "--listen", "0"], environment: environment
    ).start()
    try await dev.waitForOutput(containing: #"{"event":"started""#)
    dev.send(signal: SIGINT)
    #expect(try await dev.wait(upTo: Patience.limit).status == 130)
  }

  @Test func `if two builds of a plugin run at the same time, each makes a complete library or none`() async throws {
    let folder = try TemporaryDirectory()
    _ = try await run(folder, "plugin", "new", "twice")
    try #require(mkfifo(folder.path("gate"), 0o600) == 0)
    // The first build has linked its library and waits. The second one leaves an incomplete file behind and fails.
    try folder.write(#"cc "$@" && echo >linked && : <gate"#, to: "waits.sh")
    try folder.write(#"while [ "$1" != -o ]; do shift; done; echo half >"$2"; exit 1"#, to: "fails.sh")
    func build(_ script: String) -> Command {
      Command(
        Tool.path, ["plugin", "build", "twice"], environment: Tool.cleared.merging(["CC": "sh \(script)"]) { $1 },
        workingDirectory: folder.path)
    }
    let whole = try build("waits.sh").start()
    try #require(await Readiness.hasWritten(folder.path("linked"), by: whole), "\(whole.errorSoFar)")
    let half = try await build("fails.sh").start().wait(upTo: Patience.limit)
    #expect(half.status == 1, "\(half.errorText)")
    // The pipe is opened for both directions, so that opening it does not wait for the other end.
    let gate = FileDescriptor(adopting: open(folder.path("gate"), O_RDWR | O_CLOEXEC))
    let result = try await whole.wait(upTo: Patience.limit)
    gate.close()
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try FileTree.read(result.outputText.trimmed).starts(with: [0x7F] + Array("ELF".utf8)))
    #expect(FileTree.names(in: folder.path("twice/build")) == ["libtwice.so"])
  }

  @Test func `a new plugin in C++ adds its header to requests, and an exception fails only its own transaction`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    _ = try await run(folder, "plugin", "new", "paint", "--lang", "cpp")
    let begin = "on_request(sluice_exchange *exchange) const {\n"
    let throwing = """
      const sluice_text kind = sluice_request_header(host, exchange, "x-throw");
      if (sluice_text_equals(kind, "standard")) (void)std::string().at(7);
      if (sluice_text_equals(kind, "other")) throw 7;

      """
    let text = try FileTree.readText(folder.path("paint/plugin.cc"))
    try folder.write(text.replacing(begin, with: begin + throwing), to: "paint/plugin.cc")
    let built = try await run(folder, "plugin", "build", "--configuration", "release", "paint")
    #expect(built.status == 0, "\(built.errorText)")
    let plugin = #"\#(built.outputText.trimmed)={"value": "red"}"#
    for (kind, reason) in [("no", nil), ("standard", "basic_string"), ("other", "not a std::exception")] {
      let sent = try await Tool.run("send", "--plugin", plugin, "-H", "x-throw: \(kind)", server.baseURL)
      #expect(sent.status == (reason == nil ? 0 : 1), "\(sent.errorText)")
      #expect(sent.errorText.contains(reason ?? ""), "\(sent.errorText)")
    }
    #expect(server.requests.map { $0.headers.first("x-paint") } == ["red"])
  }

  @Test(arguments: ["cpp", "cxx"])
  func `C and C++ files of one folder make one library, which exports only its entry point`(_ ending: String)
    async throws
  {
    let folder = try TemporaryDirectory()
    _ = try await run(folder, "plugin", "new", "mixed", "--lang", "cpp")
    try folder.write("int mixed_in_c(int class) { return class; }\n", to: "mixed/part.c")
    let code = try FileTree.readText(folder.path("mixed/plugin.cc"))
    try #require(unlink(folder.path("mixed/plugin.cc")) == 0)
    let more = """
      extern "C" int mixed_in_c(int);
      int instances() { return mixed_in_c(1); }
      template <typename T> struct Shared { static inline T value = 1; };
      int *shared() { return &Shared<int>::value; }

      """
    try folder.write(code + more, to: "mixed/plugin.\(ending)")
    let built = try await run(folder, "plugin", "build", "mixed")
    #expect(built.status == 0, "\(built.errorText)")
    let inspected = try await run(folder, "plugin", "inspect", built.outputText.trimmed)
    #expect(inspected.outputText.contains(", 1 exported symbols"), "\(inspected.outputText)")
    #expect(!inspected.outputText.contains("warning"), "\(inspected.outputText)")
    #expect(FileTree.names(in: folder.path("mixed/build")) == ["libmixed.so"])
  }

  @Test(arguments: ["c", "cpp"])
  func `LDLIBS names further libraries, in plugin build, in make and in dev`(_ language: String) async throws {
    let folder = try TemporaryDirectory()
    _ = try await run(folder, "plugin", "new", "signer", "--lang", language)
    let source = "signer/plugin.\(language == "c" ? "c" : "cc")"
    let code = try FileTree.readText(folder.path(source))
    let declaration = (language == "c" ? "" : "extern \"C\" ") + "unsigned long OpenSSL_version_num(void);\n"
    let use = "unsigned long (*signer_version)(void) = OpenSSL_version_num;\n"
    try folder.write(code + declaration + use, to: source)
    let unlinked = try await run(folder, "plugin", "build", "signer")
    #expect(unlinked.status == 1 && unlinked.errorText.contains("OpenSSL_version_num"), "\(unlinked.errorText)")
    let library = folder.path("signer/build/libsigner.so")
    let environment = Tool.cleared.merging(["LDLIBS": "-lcrypto", "SLUICE": Tool.path]) { $1 }
    for words in [
      [Tool.path, "plugin", "build", folder.path("signer")], ["make", "-C", folder.path("signer"), "build"],
    ] {
      let built = try await Command.run(words[0], Array(words.dropFirst()), environment: environment)
      #expect(built.status == 0, "\(built.errorText)")
      let inspected = try await run(folder, "plugin", "inspect", library)
      #expect(inspected.outputText.contains("libcrypto.so"), "\(inspected.outputText)")
      unlink(library)
    }
    let dev = try Command(
      Tool.path, ["dev", "--json", "-c", folder.path("signer/pipeline.json"), "--listen", "0"],
      environment: DevRun.environment(folder).merging(["LDLIBS": "-lcrypto"]) { $1 }
    ).start()
    try await dev.waitForOutput(containing: #"{"event":"started""#)
    dev.send(signal: SIGINT)
    #expect(try await dev.wait(upTo: Patience.limit).status == 130)
    #expect(FileTree.exists(library))
  }

  @Test func `an editor's file next to a C file is not a source`() async throws {
    let folder = try TemporaryDirectory()
    _ = try await run(folder, "plugin", "new", "edited")
    // Emacs marks a file that is not saved yet with such a symbolic link.
    try #require(symlink("me@here.1:2", folder.path("edited/.#plugin.c")) == 0)
    let built = try await run(folder, "plugin", "build", "edited")
    #expect(built.status == 0, "\(built.errorText)")
  }

  @Test func `plugin new writes all files of a plugin, and overwrites no file`() async throws {
    let folder = try TemporaryDirectory()
    for (language, files) in [
      ("c", ["plugin.c"]), ("cpp", ["plugin.cc"]),
      ("swift", ["Package.swift", "Sources/InSwiftPlugin/InSwiftPlugin.swift"]),
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
    #expect(again.errorText.contains("it already exists"))
  }

  @Test(arguments: ["", "A", "a_b", "a b", "../a", "-a", "a--b", "a-", "1a", "ä", String(repeating: "a", count: 65)])
  func `an invalid name is refused`(_ name: String) async throws {
    let folder = try TemporaryDirectory()
    let result = try await run(folder, "plugin", "new", "--", name)
    #expect(result.status == 2)
    #expect(FileTree.names(in: folder.path).isEmpty)
  }

  @Test func `the compiler's output is shown, and a failed build keeps the old library`() async throws {
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

  /// C11 does not declare `strdup`. If the compiler only warned about the call, the plugin would be built and would
  /// crash.
  @Test func `in C, the call of an undeclared function is a build error`() async throws {
    let folder = try TemporaryDirectory()
    _ = try await run(folder, "plugin", "new", "tenant")
    let source = folder.path("tenant/plugin.c")
    let text = String(decoding: try FileTree.read(source), as: UTF8.self)
    try folder.write(text + "\nchar *copy(const char *text) { return strdup(text); }\n", to: "tenant/plugin.c")
    let built = try await run(folder, "plugin", "build", "tenant")
    #expect(built.status != 0 && built.errorText.contains("strdup"), "\(built.errorText)")
  }

  @Test func `plugin build refuses a folder without a plugin, and a wrong option`() async throws {
    let folder = try TemporaryDirectory()
    #expect(try await run(folder, "plugin", "build").status == 2)
    #expect(try await run(folder, "plugin", "build", "nowhere").status == 2)
    #expect(try await run(folder, "plugin", "build", "-c", "fast").status == 2)
    #expect(try await run(folder, "plugin", "new", "a", "--lang", "rust").status == 2)
    #expect(try await run(folder, "plugin", "new", "a", "--path", "nowhere").status == 2)
  }

  @Test func `a new plugin that was edited to set another header still passes its self-test`() async throws {
    let folder = try TemporaryDirectory()
    _ = try await run(folder, "plugin", "new", "edited")
    let file = folder.path("edited/plugin.c")
    let text = try FileTree.readText(file).replacing(
      "  return SLUICE_VERDICT_CONTINUE;",
      with: "  sluice_set_request_header(self->host, exchange, \"x-more\", \"1\");\n  return SLUICE_VERDICT_CONTINUE;")
    try folder.write(text, to: "edited/plugin.c")
    let built = try await run(folder, "plugin", "build", "edited")
    #expect(built.status == 0, "\(built.errorText)")
    let result = try await run(
      folder, "plugin", "validate", built.outputText.trimmed, "--only", "self-tests", "--strict")
    #expect(result.status == 0 && result.outputText.contains("passed  self-tests"), "\(result.outputText)")
  }
}
