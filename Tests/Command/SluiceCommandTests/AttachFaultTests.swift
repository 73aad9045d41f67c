import Glibc
import SluiceServer
import SluiceTestKit
import Testing

/// Whatever is wrong with the pipeline, the program under `sluice attach` still does its job.
@Suite(.enabled(if: !Sanitizer.isOn)) struct AttachFaultTests {
  private static let noPlan = "the plan could not be read or used"
  private static let noHost = "the library of the pipeline is missing"
  private static let failing = AttachedComparison.tracing.dropLast() + #", "attach": {"onMissing": "fail"}}"#

  // MARK: The host library

  @Test(arguments: [
    "rm $H", "truncate -s 4096 $H", "truncate -s 0 $H", "touch $H", "mv $H $H.2; cp $H.2 $H", "rm $H; mkdir $H",
    "mv $H $H.2; ln -s /dev/zero $H",
  ])
  func `a host library that does not belong to the command is not opened`(_ fault: String) async throws {
    let program = try await ForeignProgram.compile("reused")
    let folder = try TemporaryDirectory()
    for name in ["sluice", "libsluice-attach.so", "libsluice-attach-host.so"] {
      try await Command.check("cp", ["\(BuiltProducts.directory)/\(name)", folder.path(name)])
    }
    let runs = try await AttachedComparison.run(
      { [program.path, $0] }, setUp: "H=\(folder.path("libsluice-attach-host.so")); \(fault)",
      tool: folder.path("sluice"))
    runs.expectSameAndPassed(6, Self.noHost)
  }

  // MARK: The folder of the command

  @Test func `without the first plan's descriptor, the plan is read from its file`() async throws {
    let program = try await ForeignProgram.compile("reused")
    let runs = try await AttachedComparison.run(
      { [program.path, $0] }, setUp: "export SLUICE_ATTACH=-1:pass:$F")
    runs.expectSameButTraced()
  }

  @Test(arguments: [
    "rm $F/plan-1", "rm $F/plan-1; ln -s /etc/passwd $F/plan-1", "echo sluice-plan-1 2 > $F/plan-1",
    "chmod 666 $F/plan-1", "printf 'sluice-plan-1 1\\n{}' > $F/plan-1", "printf 'sluice-plan-1 1\\n' > $F/plan-1",
  ])
  func `without a plan, transfers bypass the pipeline and are counted`(_ fault: String) async throws {
    let program = try await ForeignProgram.compile("reused")
    let runs = try await AttachedComparison.run(
      { [program.path, $0] }, setUp: "\(fault); export SLUICE_ATTACH=-1:pass:$F")
    #expect(runs.attached.outputText == runs.plain.outputText)
    #expect(runs.tracedCount == 0)
    #expect(runs.passed.contains { $0.hasPrefix("6 ") && $0.contains(Self.noPlan) }, "\(runs.passed)")
  }

  @Test(arguments: [
    "rm $C/page", "truncate -s 100 $C/page", "truncate -s 0 $C/page", "mv $C/page $C/p; ln -s p $C/page",
    "dd if=/dev/zero of=$C/page bs=1 count=8 conv=notrunc status=none", "chmod 666 $C/page", "rm -r $C",
    "rm $C/page; mkdir $C/page", "rm $C/page; mkfifo $C/page",
  ])
  func `without the shared page, transfers bypass the pipeline`(_ fault: String) async throws {
    let program = try await ForeignProgram.compile("reused")
    let folder = try TemporaryDirectory()
    let runs = try await AttachedComparison.run(
      { [program.path, $0] },
      setUp: """
        C=\(folder.path)/copy; cp -rp $F $C
        \(fault)
        export SLUICE_ATTACH=-1:pass:$C
        """)
    runs.expectSame()
    #expect(runs.tracedCount == 0)
  }

  @Test func `the command survives a program that truncates the shared page`() async throws {
    let fixture = try AttachFixture()
    let result = try await fixture.attach(["sh", "-c", "F=${SLUICE_ATTACH#*:*:}; : >$F/page; exit 5"])
    #expect(result.ending == .exited(5))
    #expect(result.errorText.isEmpty)
  }

  @Test(.enabled(if: geteuid() == 0)) func `a shared page of another user is not used`() async throws {
    let program = try await ForeignProgram.compile("reused")
    let runs = try await AttachedComparison.run({ [program.path, $0] }, setUp: "chown 65534 $F/page")
    runs.expectSame()
    #expect(runs.tracedCount == 0)
  }

  @Test(arguments: [
    "", "3", "x:pass:/tmp", "3:maybe:/tmp", "3:pass:tmp", "3:pass:", "99999999999:pass:/tmp", ":::", "3,:pass:/tmp",
    "3,99999999999:pass:/tmp", "3,4,5:pass:/tmp", ",3:pass:/tmp",
  ])
  func `a SLUICE_ATTACH that no command has set has no effect`(_ value: String) async throws {
    let program = try await ForeignProgram.compile("reused")
    let runs = try await AttachedComparison.run(
      { [program.path, $0] }, setUp: "export SLUICE_ATTACH='\(value)'")
    runs.expectSame()
    #expect(runs.tracedCount == 0)
    #expect(runs.passed.isEmpty)
  }

  @Test func `SLUICE_DISABLE switches the pipeline off`() async throws {
    let program = try await ForeignProgram.compile("reused")
    let runs = try await AttachedComparison.run({ [program.path, $0] }, setUp: "export SLUICE_DISABLE=1")
    runs.expectSame()
    #expect(runs.tracedCount == 0)
    #expect(runs.passed.isEmpty)
  }

  @Test func `if the configuration says so, a transfer without a pipeline fails and sends nothing`() async throws {
    let runs = try await AttachedComparison.run(
      { ["curl", "-sS", "\($0)/a", "\($0)/b"] }, configuration: String(Self.failing),
      setUp: "rm $F/plan-1; export SLUICE_ATTACH=-1:fail:$F")
    #expect(runs.attached.ending == .exited(42))
    #expect(runs.attachedRequests.isEmpty)
    #expect(runs.attached.errorText.contains("attach.onMissing"))
  }

  // MARK: URLs

  @Test(arguments: [["-sS"], ["-sSZ", "--no-progress-meter"]])
  func `an FTP URL that libcurl gets by HTTP is counted, and fails if the pipeline is required`(_ options: [String])
    async throws
  {
    func words(_ url: String) -> [String] {
      ["curl"] + options + ["-x", url, "ftp://a.invalid/1", "ftp://a.invalid/2"]
    }
    let runs = try await AttachedComparison.run(words)
    #expect(runs.plainRequests.count == 2)
    runs.expectSameAndPassed(2, "the request could not be read")
    let failing = try await AttachedComparison.run(words, configuration: String(Self.failing))
    #expect(failing.attachedRequests.isEmpty)
    #expect(failing.attached.ending == .exited(42))
    #expect(failing.passed.count == 1 && failing.passed[0].hasPrefix("2 transfers failed"), "\(failing.passed)")
  }

  /// A libcurl that speaks WebSocket begins with an HTTP request; another one refuses the URL.
  @Test(arguments: ["ws", "wss"]) func `a WebSocket sends nothing if the pipeline is required`(_ scheme: String)
    async throws
  {
    let runs = try await AttachedComparison.run(
      { ["curl", "-sS", $0.replacing("http:", with: "\(scheme):")] }, configuration: String(Self.failing))
    #expect(runs.attachedRequests.isEmpty)
    #expect(runs.attached.ending != .exited(0))
  }

  @Test(arguments: ["http://127.0.0.1:99999/", "http://127.0.0.1/a b", "http://[::", "", "nonsense://127.0.0.1/"])
  func `libcurl itself refuses a URL that it does not accept, also if the pipeline is required`(_ url: String)
    async throws
  {
    for configuration in [AttachedComparison.tracing, String(Self.failing)] {
      let runs = try await AttachedComparison.run({ _ in ["curl", "-sS", url] }, configuration: configuration)
      runs.expectSame()
      #expect(runs.passed.isEmpty)
    }
  }

  // MARK: Memory

  /// Lets each allocation of the preloaded library fail in turn, each time in a new run of the program.
  private func runWithFailingMemory(_ name: String, _ configuration: String) async throws -> AttachedComparison {
    let program = try await ForeignProgram.compile(name)
    let memory = try await ForeignProgram.compileLibrary("failing_malloc", [])
    let loop = #"for n in $(seq 1 48); do FAIL_AT=$n "$@" || echo "ended with $?"; done"#
    return try await AttachedComparison.run(
      { ["sh", "-c", loop, "sh", program.path, $0] }, configuration: configuration,
      environment: ["LD_PRELOAD": memory.path])
  }

  @Test(arguments: ["reused", "duplicated"])
  func `without memory for the pipeline, the program sees no difference`(_ name: String) async throws {
    let runs = try await runWithFailingMemory(name, AttachedComparison.tracing)
    runs.expectSame()
    #expect(!runs.passed.isEmpty)
  }

  @Test func `plugins are loaded in a program with little memory`() async throws {
    let program = try await ForeignProgram.compile("reused")
    let memory = try await ForeignProgram.compileLibrary("small_memory", [])
    let library = BuiltProducts.library("static-headers")
    let runs = try await AttachedComparison.run(
      { [program.path, $0] },
      configuration: """
        {"plugins": {"s": {"library": "\(library)", "config": {"request": {"x-count": "1"}}}}, "request": ["s"]}
        """,
      environment: ["LD_PRELOAD": memory.path])
    withExtendedLifetime((program, memory)) {}
    #expect(runs.attached.ending == .exited(0), "\(runs.attached.errorText)")
    #expect(runs.attachedRequests.count == runs.plainRequests.count)
    #expect(runs.attachedRequests.allSatisfy { $0.headers.first("x-count") == "1" })
  }

  @Test func `without memory, no request bypasses a pipeline that is required`() async throws {
    let runs = try await runWithFailingMemory("reused", String(Self.failing))
    #expect(runs.isTraced.allSatisfy { $0 })
    #expect(runs.isTraced.count < runs.plainRequests.count)
  }

  // MARK: The program

  @Test(arguments: ["40", "64", "256"])
  func `a transfer on a small stack reaches the pipeline`(_ size: String) async throws {
    let program = try await ForeignProgram.compile("small_stack")
    try await AttachedComparison.run { [program.path, $0, size] }.expectSameButTraced()
  }

  @Test(arguments: ["48", "70", "80", "300"])
  func `a transfer reaches the pipeline if little of the main thread's stack is left`(_ left: String) async throws {
    let program = try await ForeignProgram.compile("small_stack")
    try await AttachedComparison.run { [program.path, $0, left, "main"] }.expectSameButTraced()
  }

  /// By default, the stack of a new thread is as large as the limit for the main thread's stack.
  @Test func `threads of Sluice have enough room if the limit for stacks is low`() async throws {
    let program = try await ForeignProgram.compile("small_stack")
    let limited = ["sh", "-c", #"ulimit -s 80; exec "$@""#, "sh"]
    try await AttachedComparison.run { limited + [program.path, $0, "80"] }.expectSameButTraced()
  }

  @Test func `the command says if the limit for stacks is too low for it`() async throws {
    let result = try await Command.run(
      "sh", ["-c", #"ulimit -s 64; exec "$@""#, "sh", Tool.path, "attach", "-c", "no.json", "--", "true"],
      environment: Tool.cleared)
    #expect(result.status == 1)
    #expect(
      result.errorText
        == "sluice: the limit for stacks is 64 KiB, and the command needs at least 128; raise it with ulimit -s\n")
  }

  @Test(arguments: [
    ("16", "heap"), ("1024", "heap"), ("16", "frame"), ("32", "frame"), ("16", "thread"), ("32", "signal"),
  ])
  func `transfers on the stacks of coroutines reach the pipeline, and change no other data`(
    _ size: String, _ place: String
  ) async throws {
    let program = try await ForeignProgram.compile("coroutines")
    let runs = try await AttachedComparison.run { [program.path, $0, size, place] }
    runs.expectSameButTraced()
    #expect(runs.attached.outputText.hasSuffix("changed: 0\n"))
  }

  @Test func `while a stage runs, the stack pointer is on the thread's own stack, as garbage collectors expect`()
    async throws
  {
    let program = try await ForeignProgram.compile("collected")
    let plugin = try await PluginCompiler.compile("raises-signals")
    let runs = try await AttachedComparison.run(
      { [program.path, $0] },
      configuration: """
        {"plugins": {"r": {"library": "\(plugin.path)"}}, "request": ["r"], "issue": ["r"]}
        """)
    #expect(runs.attached.outputText.hasSuffix("own: 4, other: 0\n"), "\(runs.attached.outputText)")
    #expect(runs.passed.isEmpty)
  }

  @Test func `a thread with a transfer can end even if no descriptor is free`() async throws {
    let program = try await ForeignProgram.compile("small_stack")
    try await AttachedComparison.run { [program.path, $0, "256", "used-up"] }.expectSameButTraced()
  }

  @Test func `a library can make a transfer while a thread loads it`() async throws {
    let library = try await ForeignProgram.compileLibrary("early")
    let program = try await ForeignProgram.compile("loads_early", ["-ldl"])
    try await AttachedComparison.run { [program.path, $0, library.path] }.expectSameButTraced()
  }

  @Test(arguments: ["closed", "replaced"])
  func `the pipeline still works if a program closes or replaces every descriptor`(_ what: String) async throws {
    let program = try await ForeignProgram.compile("descriptors")
    try await AttachedComparison.run { [program.path, what, $0] }.expectSameButTraced()
  }

  @Test func `a transfer bypasses the pipeline if no descriptor is free, and the next transfer uses the pipeline`()
    async throws
  {
    let program = try await ForeignProgram.compile("descriptors")
    let runs = try await AttachedComparison.run { [program.path, "used-up", $0] }
    runs.expectSame()
    #expect(runs.isTraced == [false, true])
    #expect(runs.passed.count == 1 && runs.passed[0].hasPrefix("1 transfer went without"), "\(runs.passed)")
  }

  @Test func `a program with functions named like those of libjansson keeps its functions`() async throws {
    let program = try await ForeignProgram.compile("exports_json", ["-rdynamic", "-lcurl"])
    let runs = try await AttachedComparison.run { [program.path, $0] }
    runs.expectSameAndPassed(1, "the program exports functions named like those of libjansson")
  }

  @Test(.enabled(if: geteuid() == 0)) func `a setuid program of another user runs without the pipeline`() async throws {
    let program = try await ForeignProgram.compile("reused")
    try #require(chown(program.path, 65534, 65534) == 0 && chmod(program.path, 0o4755) == 0)
    let runs = try await AttachedComparison.run { [program.path, $0] }
    runs.expectSame()
    #expect(runs.tracedCount == 0)
    #expect(runs.passed.isEmpty)
  }
}
