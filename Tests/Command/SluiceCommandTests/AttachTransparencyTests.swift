import Glibc
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Programs that use libcurl in many ways behave the same with and without `sluice attach`.
///
/// Disabled under a sanitizer: the sanitizer's runtime would have to be in the program itself.
@Suite(.enabled(if: !Sanitizer.isOn)) struct AttachTransparencyTests {
  /// The path of the libcurl that uses GnuTLS, or nil if it is not installed.
  private static let other: String? = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/libcurl-gnutls.so.4" }
    .first { access($0, R_OK) == 0 }
  private static let jemalloc: String? = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/libjemalloc.so.2" }
    .first { access($0, R_OK) == 0 }

  @Test(arguments: [
    "reused", "duplicated", "pre_request", "urls", "bodies", "sockets", "passed_on", "callbacks", "errors",
  ])
  func `a program sees no difference, and each of its requests is traced`(_ name: String) async throws {
    let program = try await ForeignProgram.compile(name)
    try await AttachedComparison.run { [program.path, $0] }.expectSameButTraced()
  }

  @Test func `transfers that a program drops are ended, and its handles stay usable`() async throws {
    let program = try await ForeignProgram.compile("early_ends")
    let runs = try await AttachedComparison.run { [program.path, $0] }
    #expect(runs.attached.outputText == runs.plain.outputText)
    #expect(runs.attached.ending == runs.plain.ending)
    // A dropped request can reach the server at any time, so that even a request of the previous run can arrive late.
    // The test therefore checks only `/again`.
    let again = runs.attachedRequests.filter { $0.path == "/again" }
    #expect(again.count == 4)
    #expect(again.allSatisfy { $0.headers.first("traceparent") != nil })
    #expect(runs.passed.isEmpty)
  }

  @Test func `a connection that libcurl opens for the program is counted, and fails if the pipeline is required`()
    async throws
  {
    let program = try await ForeignProgram.compile("connection_only")
    try await AttachedComparison.run { [program.path, $0] }.expectSameAndPassed(1, "CURLOPT_CONNECT_ONLY")
    let failing = AttachedComparison.tracing.dropLast() + #", "attach": {"onMissing": "fail"}}"#
    let refused = try await AttachedComparison.run({ [program.path, $0] }, configuration: String(failing))
    #expect(refused.attachedRequests.isEmpty)
    #expect(refused.attached.outputText.hasPrefix("=> 42"))
  }

  @Test(.enabled(if: other != nil), arguments: ["local", "deep", "global", "closed"])
  func `two modules of a process can use two different libcurls`(_ mode: String) async throws {
    let program = try await ForeignProgram.compile("flavours", [])
    let first = try await ForeignProgram.compileLibrary("module")
    let second = try await ForeignProgram.compileLibrary("module", [try #require(Self.other)])
    let runs = try await AttachedComparison.run { [program.path, mode, $0, first.path, second.path] }
    runs.expectSameButTraced()
    #expect(mode == "global" || runs.attached.outputText.contains("GnuTLS 0"))
    #expect(runs.attached.outputText.contains("OpenSSL 0"))
  }

  @Test(arguments: ["deep", "base", "version", "libc"])
  func `a module that looks for libcurl in its own libraries first is reached, also if the loader searches for it`(
    _ mode: String
  ) async throws {
    let program = try await ForeignProgram.compile("flavours", [])
    let module = try await ForeignProgram.compileLibrary("module")
    try await AttachedComparison.run(
      { [program.path, mode, $0, "module"] },
      environment: ["LD_LIBRARY_PATH": String(module.path.dropLast("/module".count))]
    ).expectSameButTraced()
    try await AttachedComparison.run { [program.path, mode, $0, module.path] }.expectSameButTraced()
  }

  @Test(arguments: ["local", "deep", "global"])
  func `a module that has the name of a libcurl is reached`(_ mode: String) async throws {
    let program = try await ForeignProgram.compile("flavours", [])
    let module = try await ForeignProgram.compileLibrary("module")
    let folder = try TemporaryDirectory()
    try await Command.check("cp", [module.path, folder.path("libcurl.so")])
    try await AttachedComparison.run { [program.path, mode, $0, folder.path("libcurl.so")] }.expectSameButTraced()
  }

  @Test(arguments: ["X-A: 1\r\n", "X-A: 1\n", "X-A: 1\r\nX-B: 2\r\n"])
  func `a line break at the end of the program's header does not separate the added headers`(_ line: String)
    async throws
  {
    let runs = try await AttachedComparison.run { ["curl", "-s", "-H", "X-0: 0", "-H", line, "\($0)/a", "\($0)/b"] }
    runs.expectSameButTraced()
    #expect(runs.attachedRequests.count == 2)
  }

  @Test func `a module that is not linked with libcurl itself uses the libcurl of a library that it needs`()
    async throws
  {
    let program = try await ForeignProgram.compile("flavours", [])
    let between = try await ForeignProgram.compileLibrary("between", ["-Wl,--no-as-needed", "-lcurl"])
    let module = try await ForeignProgram.compileLibrary(
      "module", ["-Wl,--no-as-needed", between.path, "-Wl,--unresolved-symbols=ignore-all"])
    try await AttachedComparison.run { [program.path, "local", $0, module.path] }.expectSameButTraced()
  }

  @Test func `another preloaded library is called too, whether it comes before or after Sluice's`() async throws {
    let program = try await ForeignProgram.compile("reused")
    let other = try await ForeignProgram.compileLibrary("other_preload", [])
    let after = try await AttachedComparison.run(
      { [program.path, $0] }, environment: ["LD_PRELOAD": other.path])
    after.expectSameButTraced()
    #expect(after.attached.outputText.contains("the other library begins"))
    let before = try await AttachedComparison.run(
      { [program.path, $0] }, setUp: "export LD_PRELOAD=\(other.path):$LD_PRELOAD")
    #expect(before.attached.outputText == after.attached.outputText)
    #expect(before.tracedCount == before.attachedRequests.count)
  }

  @Test(.enabled(if: jemalloc != nil)) func `a program with another memory allocator works`() async throws {
    let program = try await ForeignProgram.compile("reused")
    let runs = try await AttachedComparison.run(
      { [program.path, $0] }, environment: ["LD_PRELOAD": Self.jemalloc])
    runs.expectSameButTraced()
  }

  @Test(arguments: ["reused", "small_stack"])
  func `a program with the address sanitizer works, also if its parent sets the sanitizer's options`(_ name: String)
    async throws
  {
    let program = try await ForeignProgram.compile(name, ["-fsanitize=address", "-lcurl"])
    for options in ["", "ASAN_OPTIONS=detect_leaks=1:check_initialization_order=1"] {
      try await AttachedComparison.run(
        { ["env"] + options.split(separator: " ").map(String.init) + [program.path, $0, "1024"] },
        environment: ["ASAN_OPTIONS": nil]
      ).expectSameButTraced()
    }
  }

  /// Plugins in Swift, of which some have threads and runtimes of their own.
  private static func threaded(_ collector: LoopbackServer, _ folder: TemporaryDirectory) -> String {
    """
    {"plugins": {
      "s": {"library": "\(BuiltProducts.library("sleeps-in-swift"))"},
      "a": {"library": "\(BuiltProducts.library("access-log"))", "config": {"output": "\(folder.path("log"))"}},
      "o": {"library": "\(BuiltProducts.library("otlp"))",
        "config": {"endpoint": "\(collector.baseURL)", "delay": "1ms", "batchSpans": 4}}},
     "request": ["s"], "tracers": ["a", "o"]}
    """
  }

  /// The sanitizer writes a line about each thread of the parent, which does not exist in the child.
  @Test(arguments: [false, true])
  func `the leak sanitizer reports nothing in children of fork`(_ hasThreads: Bool) async throws {
    let program = try await ForeignProgram.compile("returns", ["-fsanitize=address", "-lcurl"])
    let collector = try LoopbackServer(recording: .countOnly, handler: AttachedCollector.accept)
    defer { collector.stop() }
    let folder = try TemporaryDirectory()
    let runs = try await AttachedComparison.run(
      { [program.path, $0] },
      configuration: hasThreads ? Self.threaded(collector, folder) : AttachedComparison.tracing)
    if !hasThreads { runs.expectSameButTraced() }
    let text = runs.attached.outputText
    #expect(text.contains("child 0: 0\n") && text.contains("child 1: 0\n"), "\(text)\n\(runs.attached.errorText)")
  }

  @Test(arguments: [("reused", ""), ("small_stack", "1024"), ("threads", "2"), ("threads", "8")])
  func `a program with the thread sanitizer works, also if several threads make transfers`(
    _ name: String, _ number: String
  ) async throws {
    let program = try await ForeignProgram.compile(name, ["-fsanitize=thread", "-lcurl"])
    try await AttachedComparison.run { [program.path, $0, number] }.expectSameButTraced()
  }

  @Test func `the thread sanitizer reports nothing about plugins with threads and runtimes of their own`()
    async throws
  {
    let program = try await ForeignProgram.compile("threads", ["-fsanitize=thread", "-lcurl"])
    let collector = try LoopbackServer(recording: .countOnly, handler: AttachedCollector.accept)
    defer { collector.stop() }
    let folder = try TemporaryDirectory()
    let runs = try await AttachedComparison.run(
      { [program.path, $0, "4"] }, configuration: Self.threaded(collector, folder))
    runs.expectSame()
    #expect(runs.attachedRequests.allSatisfy { $0.headers.first("x-count") != nil })
    #expect(runs.passed.isEmpty)
  }

  /// The loader compares the parts of a run path such as `$ORIGIN` in whole words, which read past the end of short
  /// texts. Whether valgrind reports this depends on the address of the text. Installed libraries have no run path.
  private static let loaderReads = """
    {
      run path
      Memcheck:Addr8
      fun:strncmp
      fun:is_dst
    }
    """

  @Test(.enabled(if: FileTree.exists("/usr/bin/valgrind")), arguments: ["reused", "returns"])
  func `a program under valgrind works, and loses no memory`(_ name: String) async throws {
    let program = try await ForeignProgram.compile(name)
    let folder = try TemporaryDirectory()
    let suppressions = try folder.write(Self.loaderReads, to: "suppressions")
    try folder.makeFolder("logs")
    try await AttachedComparison.run {
      [
        "valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite",
        "--error-exitcode=9", "--suppressions=\(suppressions)",
        "--log-file=\(folder.path("logs/%p"))", program.path, $0,
      ]
    }.expectSameButTraced()
    let logs = try FileTree.names(in: folder.path("logs")).map { try FileTree.readText(folder.path("logs/\($0)")) }
    #expect(!logs.isEmpty && logs.allSatisfy(\.isEmpty), "\(logs)")
  }

  @Test(.enabled(if: FileTree.exists("/usr/bin/musl-gcc"))) func `a program with musl works`() async throws {
    let folder = try TemporaryDirectory()
    let source = RepositoryRoot.path("Tests/Fixtures/Programs/attached/greeting.c")
    try await Command.check("musl-gcc", [source, "-o", folder.path("greeting")])
    let runs = try await AttachedComparison.run { ["sh", "-c", "\(folder.path("greeting")); curl -sS \($0)/after"] }
    runs.expectSameButTraced()
    #expect(runs.attachedRequests.count == 1)
  }

  /// Whether a test can change what it sees of the file system.
  private static let hasNamespaces = geteuid() == 0 && FileTree.exists("/usr/bin/unshare")

  @Test(
    .enabled(if: hasNamespaces),
    arguments: ["mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp", "mount -t tmpfs none /tmp"])
  func `a program in a sandbox without the folder of the command is reached and counted`(_ setUp: String) async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write(AttachedComparison.tracing, to: "c.json")
    let server = try LoopbackServer { _ in .text("answer\n") }
    defer { server.stop() }
    let script = "\(setUp) && exec curl -sS \(server.baseURL)"
    let result = try await Command.run(
      Tool.path, ["attach", "--explain", "-c", file, "--", "unshare", "-m", "sh", "-c", script],
      environment: Tool.cleared.merging(["XDG_RUNTIME_DIR": nil]) { $1 })
    #expect(result.outputText == "answer\n")
    #expect(result.errorText == "sluice: attach: 1 transfer went through the pipeline\n")
    #expect(server.requests.allSatisfy { $0.headers.first("traceparent") != nil })
  }

  @Test func `a static program works, and its exit status is the command's`() async throws {
    let program = try await ForeignProgram.compile("greeting", ["-static"])
    let runs = try await AttachedComparison.run { _ in [program.path] }
    runs.expectSame()
    #expect(runs.attached.ending == .exited(3))
    #expect(runs.passed.isEmpty)
  }
}
