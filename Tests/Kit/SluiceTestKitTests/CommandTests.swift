import SluiceTestKit
import Testing

@Suite struct CommandTests {
  @Test func `both outputs and the status are collected, even if the outputs are large`() async throws {
    let script = "head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2; exit 7"
    let result = try await Command.run("sh", ["-c", script])
    #expect(result.standardOutput.count == 300_000)
    #expect(result.standardError.count == 200_000)
    #expect(result.ending == .exited(7))
  }

  @Test func `a standard input that is larger than a pipe is passed completely`() async throws {
    let input = [UInt8](repeating: 120, count: 1_000_000)
    #expect(try await Command.run("cat", standardInput: input).standardOutput == input)
  }

  @Test func `variables can be added to the environment and removed`() async throws {
    let result = try await Command.run(
      "sh", ["-c", "echo $ADDED${HOME-none}"], environment: ["ADDED": "x=", "HOME": nil])
    #expect(result.outputText == "x=none\n")
  }

  @Test func `a signal is distinguished from an exit`() async throws {
    let running = try Command("cat").start()
    running.send(signal: 15)
    let result = try await running.wait()
    #expect(result.ending == .signalled(15))
    #expect(result.status == 143)
  }

  @Test func `a test can write to a running command and wait for its output`() async throws {
    let running = try Command("cat").start()
    try running.write("hello\n")
    try await running.waitForOutput(containing: "hello")
    running.closeInput()
    #expect(try await running.wait().ending == .exited(0))
  }

  @Test func `a command that exceeds its time limit is killed, and the error names it`() async throws {
    let running = try Command("cat").start()
    let error = await #expect(throws: TestKitError.self) { try await running.wait(upTo: .milliseconds(1)) }
    #expect(error?.description.hasPrefix("cat did not end within") == true)
    #expect(try await running.wait().ending == .signalled(9))
  }

  @Test func `if a program does not exist, the error names the program`() {
    let error = #expect(throws: TestKitError.self) { try Command("no-such-program").start() }
    #expect(error?.description.contains("no-such-program") == true)
  }
}
