import Glibc
import SluiceCrash
import SluicePluginHost
import SluiceTestKit
import Testing

/// In every situation, the process ends by the signal of its crash.
@Suite(.disabled(if: Sanitizer.isOn, "a sanitizer handles crashes itself")) struct CrashHandlerTests {
  private let fixture: CrashFixture

  init() throws { fixture = try CrashFixture() }

  @Test func `if the stack is lost, the report has the other facts`() async throws {
    #if arch(x86_64)
      let report = try await fixture.report("LOSES_STACK", SIGILL)
    #else
      let report = try await fixture.report("LOSES_STACK", SIGTRAP)
    #endif
    #expect(report.isComplete && report.call?.callback == "on_request" && report.blamed?.stage == "victim")
    #expect(report.pluginFunctions.first == "lose_stack")
  }

  @Test func `of threads that crash together one is reported completely`() async throws {
    let report = try await fixture.report("ON_MANY_THREADS", SIGSEGV)
    #expect(report.isComplete && report.blamed?.stage == "victim" && report.pluginFunctions.first == "write_to_nowhere")
  }

  @Test func `a signal that was sent ends the process as well`() async throws {
    let report = try await fixture.report("SENDS_ITSELF", SIGSEGV)
    #expect(report.reason == "SIGSEGV: sent by a process" && report.call?.callback == "on_request")
  }

  @Test func `a process that the plugin forked leaves the record to its parent`() async throws {
    let library = try await CrashFixture.library("IN_CHILD")
    let child = fixture.child(library)
    await #expect(processExitsWith: .success) { [child = child as CrashFixture.Child] in try await child.run() }
    #expect(CrashReport(path: fixture.record) == nil)
  }

  @Test(arguments: ["", "/dev/full"])
  func `a descriptor that accepts nothing does not change how the process ends`(output: String) async throws {
    let library = try await CrashFixture.library("IN_REQUEST")
    var child = fixture.child(library)
    (child.record, child.output) = (nil, output)
    await fixture.crash(child, SIGSEGV)
  }

  @Test func `a reader that does not read delays the end only up to the limit`() async throws {
    let path = fixture.folder.path("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    // The pipe is full before the child writes, and nobody reads it.
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
