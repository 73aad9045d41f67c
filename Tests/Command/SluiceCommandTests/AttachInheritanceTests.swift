import Glibc
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// What `sluice attach` inherits from its parent, and what the program inherits from it.
@Suite(.enabled(if: !Sanitizer.isOn)) struct AttachInheritanceTests {
  @Test func `a program that removes its environment runs with the pipeline`() async throws {
    let program = try await ForeignProgram.compile("no_environment")
    let runs = try await AttachedComparison.run { [program.path, $0] }
    runs.expectSameButTraced()
    #expect(runs.tracedCount == 2)
  }

  @Test func `a parent that ignores SIGCHLD changes nothing, and the program inherits that it is ignored`() async throws
  {
    let fixture = try AttachFixture()
    func run(_ words: [String], attached: Bool) async throws -> CommandResult {
      let command = attached ? [Tool.path, "attach", "-c", fixture.configuration, "--"] : []
      return try await fixture.run(["sh", "-c", #"trap "" CHLD; exec "$@""#, "sh"] + command + words)
    }
    for words in [
      ["sh", "-c", "grep SigIgn /proc/self/status; exit 7"], ["curl", "-sS", fixture.url], ["true"], ["false"],
      ["/nowhere"], ["no-such-program"], ["/"], ["sh", "-c", "kill -TERM $$"], ["sh", "-c", "cat"],
    ] {
      let plain = try await run(words, attached: false)
      let attached = try await run(words, attached: true)
      #expect(attached.outputText == plain.outputText, "\(words)")
      #expect(attached.ending == plain.ending, "\(words): \(attached.errorText)")
    }
  }

  @Test(.timeLimit(.minutes(2))) func `a script without its first line runs if SIGCHLD is ignored`() async throws {
    let fixture = try AttachFixture()
    let script = try fixture.folder.write("echo from the script\nexit 4\n", to: "script")
    try #require(chmod(script, 0o755) == 0)
    let result = try await fixture.run(
      ["sh", "-c", #"trap "" CHLD; exec "$@""#, "sh", Tool.path, "attach", "-c", fixture.configuration, "--", script])
    #expect(result.outputText == "from the script\n", "\(result.errorText)")
    #expect(result.ending == .exited(4))
  }

  @Test func `without an instance of inotify, the program runs, and a line says that changes have no effect`()
    async throws
  {
    let library = try await ForeignProgram.compileLibrary("no_inotify", [])
    let fixture = try AttachFixture()
    // Files are watched only if the program runs for some time.
    let running = try Command(
      Tool.path, ["attach", "-c", fixture.configuration, "--", "sh", "-c", "curl -sS \(fixture.url); cat"],
      environment: Tool.cleared.merging(["LD_PRELOAD": library.path]) { $1 }
    ).start()
    try await running.waitForError(containing: "have no effect")
    running.closeInput()
    let result = try await running.wait()
    #expect(result.ending == .exited(0), "\(result.errorText)")
    #expect(fixture.server.requests.last?.headers.first("x-c") == "plugin")
    #expect(result.errorText.contains("cannot watch files"), "\(result.errorText)")
    withExtendedLifetime(library) {}
  }

  @Test func `the program reads the standard input of the command`() async throws {
    let fixture = try AttachFixture()
    let result = try await fixture.attach(["sh", "-c", "cat; cat /dev/stdin"], input: Array("the input".utf8))
    #expect(result.outputText == "the input", "\(result.errorText)")
    let closed = try await Command.run(
      "sh", ["-c", "\(Tool.path) attach -c \(fixture.configuration) -- cat <&-"], environment: Tool.cleared)
    #expect(closed.ending == .exited(1), "\(closed.errorText)")
  }

  @Test func `plugin build works if the parent ignores SIGCHLD`() async throws {
    let folder = try TemporaryDirectory()
    let script = #"trap "" CHLD; "$0" plugin new my --lang c && "$0" plugin build my"#
    let result = try await Command.run(
      "sh", ["-c", script, Tool.path], environment: Tool.cleared, workingDirectory: folder.path)
    #expect(result.ending == .exited(0), "\(result.errorText)")
  }
}
