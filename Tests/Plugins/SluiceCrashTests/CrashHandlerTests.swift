import Glibc
import SluiceCrash
import SluicePluginHost
import SluiceTestKit
import Testing

/// In every situation, the signal of the crash ends the process.
@Suite(.disabled(if: Sanitizer.isOn, "a sanitizer handles crashes itself")) struct CrashHandlerTests {
  private let fixture: CrashFixture

  init() throws { fixture = try CrashFixture() }

  @Test func `if the stack cannot be read, the report has all other facts`() async throws {
    #if arch(x86_64)
      let report = try await fixture.report("LOSES_STACK", SIGILL)
    #else
      let report = try await fixture.report("LOSES_STACK", SIGTRAP)
    #endif
    #expect(report.isComplete && report.call?.callback == "on_request" && report.blamed?.stage == "victim")
    #expect(report.pluginFunctions.first == "lose_stack")
  }

  @Test func `if several threads crash together, one of them is reported completely`() async throws {
    let report = try await fixture.report("ON_MANY_THREADS", SIGSEGV)
    #expect(report.isComplete && report.blamed?.stage == "victim" && report.pluginFunctions.first == "write_to_nowhere")
  }

  @Test func `a crash signal that was sent by a process also ends the receiver, and is reported`() async throws {
    let report = try await fixture.report("SENDS_ITSELF", SIGSEGV)
    #expect(report.reason == "SIGSEGV: sent by a process" && report.call?.callback == "on_request")
  }

  @Test func `a crash in a process that the plugin forked writes no record`() async throws {
    let library = try await CrashFixture.library("IN_CHILD")
    let child = fixture.child(library)
    await #expect(processExitsWith: .success) { [child = child as CrashFixture.Child] in try await child.run() }
    #expect(CrashReport(path: fixture.record) == nil)
  }

  @Test(arguments: ["", "/dev/full"])
  func `if the record cannot be written, the signal of the crash still ends the process`(output: String) async throws {
    let library = try await CrashFixture.library("IN_REQUEST")
    var child = fixture.child(library)
    (child.record, child.output) = (nil, output)
    await fixture.crash(child, SIGSEGV)
  }

  @Test func `if the reader of the record does not read, the end of the process is delayed only up to the limit`()
    async throws
  {
    let path = fixture.folder.path("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    // The pipe is full before the child writes to it, and nobody reads from it.
    let descriptor = open(path, O_RDWR | O_NONBLOCK)
    defer { close(descriptor) }
    let page = [UInt8](repeating: 0, count: 4096)
    while write(descriptor, page, page.count) > 0 {}
    let library = try await CrashFixture.library("IN_REQUEST")
    var child = fixture.child(library)
    (child.record, child.output) = (nil, path)
    await fixture.crash(child, SIGSEGV)
  }

  @Test func `earlier crash handlers still run, after the record`() async throws {
    let library = try await CrashFixture.library("IN_REQUEST")
    let child = fixture.child(library)
    await #expect(processExitsWith: .exitCode(77)) { [child = child as CrashFixture.Child] in
      signal(SIGSEGV) { _ in _exit(77) }
      try await child.run()
    }
    #expect(try fixture.report().isComplete)
  }
}
