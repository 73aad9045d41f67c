import Glibc
import SluiceCrash
import SluiceJSON
import SluicePluginHost
import SluiceTestKit
import Testing

/// Builds that crash in a separate process, and their reports.
@Suite(.disabled(if: Sanitizer.isOn, "a sanitizer handles crashes itself")) struct CrashReportTests {
  private let fixture: CrashFixture

  init() throws { fixture = try CrashFixture() }

  @Test func `a build that crashes in on_request is named with generation, stage, transaction and backtrace`()
    async throws
  {
    let library = try await CrashFixture.library("IN_REQUEST")
    await fixture.crash(fixture.child(library), SIGSEGV)
    let report = try fixture.report()
    let call = try #require(report.call)
    let build = try #require(report.blamed)
    #expect(report.cause == .code(build) && call.build == build)
    #expect(build.stage == "victim" && build.plugin == "fixture" && build.generation == 1)
    #expect(build.library == library.path && build.hash.utf8.count == 64)
    #expect(call.callback == "on_request" && call.transaction != nil && call.attempt == 0)
    #expect(report.threadName == "sluice-loop-0" && call.thread == report.thread)
    #expect(report.reason == "SIGSEGV: write to address 0x8, near a null pointer")
    #expect(report.pluginFunctions.prefix(2) == ["write_to_nowhere", "on_request"])
    #expect(report.frames.contains { $0.owner == .host && $0.function != nil })
    #expect(report.isComplete)
    #expect(report.text.contains("plugin \"victim\" (fixture, generation 1) crashed the process in on_request\n"))
    #expect(report.text.contains("more of the host"))
  }

  @Test(arguments: [
    ("IN_RESPONSE", "on_response"), ("IN_ISSUE", "on_issue"), ("IN_CREATE", "create"), ("IN_ACTIVATE", "activate"),
    ("IN_CONSTRUCTOR", "a constructor, which ran while the library was loaded"),
    ("IN_RELEASE", "the release of its data"),
    ("AFTER_POST", "a function that it posted"),
  ])
  func `the report of a crash says which function of the plugin was called`(crash: String, callback: String)
    async throws
  {
    let report = try await fixture.report(crash, SIGSEGV)
    let build = try #require(report.blamed)
    #expect(report.cause == .code(build) && report.call?.callback == callback)
    #expect(report.pluginFunctions.first == "write_to_nowhere")
    #expect((report.call?.transaction != nil) == ["IN_RESPONSE", "IN_ISSUE"].contains(crash))
    #expect(build.stage == (crash == "IN_CONSTRUCTOR" ? nil : "victim"))
  }

  @Test func `a failed Swift runtime check after a resumption is reported with the runtime's message`() async throws {
    let child = CrashFixture.Child(
      record: fixture.record, library: BuiltProducts.library("crashes-in-swift"), folder: fixture.folder.path,
      onlyRequests: true)
    // A failed check executes an instruction that differs between processors, and so the signal differs too.
    #if arch(x86_64)
      let output = await fixture.crash(child, SIGILL)
    #else
      let output = await fixture.crash(child, SIGTRAP)
    #endif
    var report = try fixture.report()
    report.addOutput(output)
    #expect(report.message?.contains("Index out of range") == true)
    #expect(
      report.blamed?.plugin == "org.example.crashes-in-swift" && report.call?.callback == "a function that it posted")
    #expect(report.call?.transaction != nil)
    #expect(report.pluginFunctions.first?.contains("CrashesInSwift.third(of:") == true)
    #expect(report.text.contains("it said: ") && report.text.contains("Index out of range"))
  }

  @Test func `a stack overflow is distinguished from other bad addresses`() async throws {
    let report = try await fixture.report("OVERFLOWS_STACK", SIGSEGV)
    #expect(report.reason.hasSuffix("the stack overflowed"))
    #expect(report.call?.callback == "on_request" && report.pluginFunctions.first == "descend")
    #expect(report.text.contains("(128 times and more)"))
  }

  @Test func `a crash on a thread that the plugin started names the plugin`() async throws {
    let report = try await fixture.report("ABORTS_ON_THREAD", SIGABRT)
    let build = try #require(report.blamed)
    #expect(report.cause == .threadOf(build) && build.stage == "victim" && report.call == nil)
    #expect(report.pluginFunctions.contains("abort_here"))
    // The loop waits for that thread.
    #expect(report.otherCalls.map(\.callback) == ["on_request"])
    #expect(report.reason == "SIGABRT: the program called abort")
  }

  @Test func `if a function jumps to an address without code, the report names the function`() async throws {
    let report = try await fixture.report("JUMPS_NOWHERE", SIGSEGV)
    #expect(report.frames.first?.owner == .nowhere && report.pluginFunctions.first == "jump_nowhere")
    #expect(report.blamed?.stage == "victim")
    #if arch(x86_64)
      #expect(report.reason.hasPrefix("SIGSEGV: jump to address 0x0"))
    #endif
  }

  @Test func `if a plugin calls code of the host and this code crashes, the report says so`() async throws {
    let report = try await fixture.report("PASSES_BAD_POINTER", SIGSEGV)
    let build = try #require(report.blamed)
    #expect(report.cause == .calledBy(build) && build.stage == "victim")
    #expect(report.text.contains("in code of the host or of another library"))
  }

  @Test func `saved reports are private and limited in number`() async throws {
    let report = try await fixture.report("IN_REQUEST", SIGSEGV)
    let path = fixture.folder.path("state/crashes")
    let folder = try #require(CrashFolder(at: path, limit: 2))
    let entry = try folder.save(report)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o700)
    #expect(stat(entry.textPath, &status) == 0 && status.st_mode & 0o777 == 0o600)
    let document = try JSONValue(parsing: FileTree.readText(entry.documentPath))
    #expect(document["build"]?["hash"]?.string == report.blamed?.hash)
    #expect(document["call"]?["callback"]?.string == "on_request" && document["cause"]?.string == "plugin")
    #expect(document["frames"]?.elements.contains { $0["function"]?.string == "write_to_nowhere" } == true)
    // With the saved report and two older ones there are three, but the limit is 2. A file with another name is kept.
    for name in ["2001-01-01T00-00-00Z-1", "2002-01-01T00-00-00Z-2"] {
      for end in [".txt", ".json"] { try fixture.folder.write("", to: "state/crashes/\(name)\(end)") }
    }
    try fixture.folder.write("", to: "state/crashes/notes.txt")
    _ = try folder.save(report)
    #expect(FileTree.names(in: path).count == 5 && !FileTree.names(in: path).contains { $0.hasPrefix("2001") })
  }

  @Test func `without a crash, there is no report`() async throws {
    let library = try await CrashFixture.library("NOTHING")
    let child = fixture.child(library)
    await #expect(processExitsWith: .success) { [child = child as CrashFixture.Child] in try await child.run() }
    #expect(CrashReport(path: fixture.record) == nil && FileTree.names(in: fixture.folder.path).contains("record"))
    #expect(CrashReport(record: Array("sluice crash record 2\n".utf8)) == nil)
  }
}
