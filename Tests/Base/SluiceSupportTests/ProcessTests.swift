import Glibc
import SluiceSupport
import SluiceTestKit
import Testing

/// Processes, and how they end.
struct ProcessTests {
  @Test(arguments: [
    ("exit 0", WaitStatus.exited(0), 0), ("exit 3", .exited(3), 3), ("exit 255", .exited(255), 255),
    ("kill -TERM $$", .killed(signal: SIGTERM), 143), ("kill -KILL $$", .killed(signal: SIGKILL), 137),
  ])
  func `the end of a process is the one that a shell reports`(script: String, end: WaitStatus, status: Int32) throws {
    var start = ProgramStart(["sh", "-c", script])
    // The threads of tests block signals, which a program would inherit.
    start.blockedSignals = sigset_t()
    let process = try start.run()
    let seen = WaitStatus.wait(for: process)
    #expect(seen == end && seen?.shellStatus == status)
    // A process can be waited for once.
    #expect(WaitStatus.wait(for: process) == nil)
  }

  @Test func `a program that does not exist is an error with its number`() {
    #expect { try ProgramStart(["no-such-program-of-sluice"]).run() } throws: { error in
      (error as? ProgramStart.Failure)?.number == ENOENT
    }
  }

  @Test func `a program gets the streams and the variables that it was given`() throws {
    let folder = try TemporaryDirectory()
    let output = open(folder.path("out"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    try #require(output >= 0)
    defer { close(output) }
    var start = ProgramStart(["sh", "-c", "cat; printf %s \"$SLUICE_WORD\""], environment: ["SLUICE_WORD": "given"])
    start.input = .nothing
    start.output = .descriptor(output)
    #expect(WaitStatus.wait(for: try start.run()) == .exited(0))
    #expect(try FileTree.readText(folder.path("out")) == "given")
  }
}
