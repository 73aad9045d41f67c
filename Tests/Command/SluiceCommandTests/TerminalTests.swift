import Glibc
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// Output that appears only on a terminal.
@Suite struct TerminalTests {
  /// Runs a shell line with `$TTY` as a terminal, and returns what was written there.
  private func onTerminal(_ line: String, environment: [String: String?] = [:]) async throws -> String {
    let (terminal, name) = try Self.makeTerminal()
    let all = Tool.cleared.merging(["TTY": name, "TERM": "xterm"]) { $1 }.merging(environment) { $1 }
    let result = try await Command.run("sh", ["-c", line], environment: all)
    #expect(result.errorText.isEmpty)
    var text: [UInt8] = []
    // Reading ends with an error after every process has closed the other end.
    while let piece = try? terminal.read(), !piece.isEmpty { text += piece }
    return String(decoding: text, as: UTF8.self)
  }

  /// Makes a terminal, and returns the end to read from and the path of the other end. It uses ioctl, because Swift
  /// does not import `posix_openpt`.
  private static func makeTerminal() throws -> (FileDescriptor, String) {
    let terminal = FileDescriptor(adopting: open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC))
    let (setLock, getNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))
    var unlocked: Int32 = 0
    var number: UInt32 = 0
    try #require(ioctl(terminal.number, setLock, &unlocked) == 0 && ioctl(terminal.number, getNumber, &number) == 0)
    return (terminal, "/dev/pts/\(number)")
  }

  private func input(_ server: LoopbackServer, in folder: TemporaryDirectory) throws -> String {
    let line = #"{"url": "\#(server.baseURL)/slow"}"# + "\n" + "bad\n"
    return try folder.write(line, to: "in.jsonl")
  }

  private func slowServer() throws -> LoopbackServer {
    let echo = EchoHandler()
    return try LoopbackServer { request in
      var delayed = request
      delayed.target = "/delay/700ms"
      return echo.respond(to: delayed)
    }
  }

  @Test func `if a key has a password and none is given, nothing asks for it on the terminal`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let client = try await TestCertificates.shared().client
    let key = folder.path("locked.pem")
    try await Command.check(
      "openssl", ["pkcs8", "-topk8", "-in", client.key, "-passout", "pass:secret", "-out", key])
    let url = server.baseURL.replacing("http:", with: "https:")
    let text = try await onTerminal(
      "setsid -cw \(Tool.path) send --cert \(client.certificate) --key \(key) \(url) <$TTY >$TTY 2>&1")
    #expect(text.contains("the key has a password") || text.contains("if the key has a password"), "\(text)")
    #expect(text.contains("give it with --pass"), "\(text)")
    #expect(!text.contains("pass phrase"), "\(text)")
  }

  @Test func `a run shows a progress line, and removes it at the end`() async throws {
    let server = try slowServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try input(server, in: folder)
    let text = try await onTerminal("\(Tool.path) run -i \(file) -o /dev/null 2>$TTY")
    #expect(text.contains("1 done"))
    #expect(text.contains("1 in flight"))
    #expect(text.contains("\u{1B}[31m1 failed\u{1B}[0m"))
    #expect(text.contains("\r\u{1B}[K2 requests in"))
  }

  @Test(arguments: [(130, true), (119, false)])
  func `in a wide window, a run shows percentiles of the latency`(_ columns: Int, _ isWide: Bool) async throws {
    let server = try slowServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    // The first request fails at once, so there is a latency to show while the other request is in flight.
    let lines = #"{"url": "http://127.0.0.1:1/"}"# + "\n" + #"{"url": "\#(server.baseURL)/slow"}"# + "\n"
    let file = try folder.write(lines, to: "in.jsonl")
    let text = try await onTerminal(
      "stty cols \(columns) <$TTY; \(Tool.path) run -i \(file) -o /dev/null 2>$TTY")
    #expect(text.contains("1 done"))
    #expect(text.contains(/p50 [0-9.]+ .s p90 [0-9.]+ .s p99 [0-9.]+ .s/) == isWide, "\(text)")
  }

  @Test func `with NO_COLOR the progress bar has no colour, and with --no-progress there is no bar`() async throws {
    let server = try slowServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try input(server, in: folder)
    let plain = try await onTerminal("\(Tool.path) run -i \(file) -o /dev/null 2>$TTY", environment: ["NO_COLOR": "1"])
    #expect(plain.contains("1 failed") && !plain.contains("\u{1B}[31m"))
    let none = try await onTerminal("\(Tool.path) run --no-progress -i \(file) -o /dev/null 2>$TTY")
    #expect(none.hasPrefix("2 requests in"))
  }

  @Test func `control characters in texts from outside do not reach a terminal`() {
    #expect(PrintableText.of("a\u{1B}[2Jb\u{9B}c\td\n") == #"a\u{1B}[2Jb\u{9B}c"# + "\td\n")
    #expect(PrintableText.line("a\u{1B}\nb\r\nc\n") == #"a\u{1B} b\r c"#)
  }
}
