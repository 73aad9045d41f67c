import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Other names of standard output and standard input: the system's names, other spellings of them, and links to them.
/// Inside the command, descriptor 1 is standard error, so a name that is opened as a file leads to the wrong stream.
@Suite struct StreamNameTests {
  private static let outputs = [
    "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link", "linked/link", "./linked/../link", "/dev/fd/../fd/1",
    "/proc/thread-self/fd/1",
  ]

  private struct Run {
    let status: String
    let output: String
    let error: String
    let requestCount: Int
  }

  /// Runs a line of a shell, in which `sluice` is the command, in a folder with links. Standard error goes to a file that
  /// has a line already. In the line, `URL` is that of a server, and `in` is a file with a request.
  private static func run(_ line: String, isPiped: Bool = false, input: String? = nil) async throws -> Run {
    let server = try LoopbackServer { request in .text("<\(String(decoding: request.body, as: UTF8.self))>") }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    try folder.write(#"{"url":"\#(server.baseURL)/"}"# + "\n", to: "in")
    try folder.write("earlier\n", to: "err")
    let script = """
      cd \(folder.path) && mkdir linked && ln -s /dev/stdout link && ln -s ../link linked/link && ln -s /dev/stdin given && ln -s /dev/stderr aside
      sluice() { \(Tool.path) "$@"; }
      ( \(line.replacing("URL", with: server.baseURL)); echo $? >status ) 2>>err \(isPiped ? "| cat " : "")>out
      """
    let result = try await Command.run(
      "sh", ["-c", script], environment: Tool.cleared, standardInput: Array((input ?? "").utf8))
    #expect(result.status == 0 && result.errorText.isEmpty, "\(result)")
    return Run(
      status: try FileTree.readText(folder.path("status")), output: try FileTree.readText(folder.path("out")),
      error: try FileTree.readText(folder.path("err")), requestCount: server.requestCount)
  }

  @Test(
    arguments: outputs,
    [
      ("send -D NAME -o body URL", "HTTP/1.1 200 OK"), ("send -D NAME URL", "HTTP/1.1 200 OK"),
      ("send -D NAME -o NAME URL", "HTTP/1.1 200 OK"), ("send -o NAME URL", "<>"),
      ("send --events NAME -o body URL", #"{"event":"will_execute""#),
      ("send --cookie-jar NAME -o body URL", "# Netscape HTTP Cookie File"),
      ("run -q -i in -o NAME", #"{"id":1"#), ("run -q -i in --events NAME -o body", #"{"event":"will_execute""#),
    ])
  func `every name of standard output leads to it, and standard error keeps its text`(
    _ name: String, _ command: (line: String, words: String)
  ) async throws {
    for isPiped in [false, true] {
      let run = try await Self.run("sluice \(command.line.replacing("NAME", with: name))", isPiped: isPiped)
      #expect(run.status == "0\n" && run.error == "earlier\n", "\(run)")
      #expect(run.output.hasPrefix(command.words), "\(run)")
    }
  }

  @Test(arguments: outputs, ["send --events NAME URL", "run -q -i in --events NAME", "send --har NAME URL"])
  func `standard output is refused under every name where it is not allowed`(
    _ name: String, _ line: String
  ) async throws {
    let run = try await Self.run("sluice \(line.replacing("NAME", with: name))")
    #expect(run.status == "2\n" && run.output.isEmpty && run.requestCount == 0, "\(run)")
    #expect(run.error.hasPrefix("earlier\n"), "\(run)")
  }

  @Test(arguments: ["-", "/dev/stdin", "given", "/dev/fd/../fd/0", "/proc/thread-self/fd/0"])
  func `every name of standard input leads to it`(_ name: String) async throws {
    let sent = try await Self.run("sluice send -T \(name) URL/x", input: "given text")
    #expect(sent.output == "<given text>" && sent.error == "earlier\n", "\(sent)")
    let run = try await Self.run("sluice run -q -i \(name) <in")
    #expect(run.output.hasPrefix(#"{"id":1"#) && run.requestCount == 1, "\(run)")
  }

  @Test func `a stream that was closed at the start is an error under every name`() async throws {
    for name in Self.outputs {
      let run = try await Self.run("sluice send -s -o \(name) URL >&-")
      #expect(run.status == "23\n" && run.error.contains("cannot write standard output: Bad file"), "\(run)")
    }
    for name in ["/dev/stderr", "/dev/fd/2", "aside"] {
      for option in ["-o", "-o body -D", "--events"] {
        let run = try await Self.run("sluice send -s \(option) \(name) URL 2>&-")
        #expect(run.status == "23\n", "\(option) \(name): \(run)")
      }
    }
  }

  @Test(arguments: [
    "send -T - URL", "send -T /dev/stdin URL", "send -T given URL", "send -d @- URL", "send -d @given URL",
    "send -K - URL", "send -b - URL", "send -b /dev/stdin URL", "run -q", "run -q -i -", "run -q -i given",
  ])
  func `a standard input that was closed at the start is refused, and nothing is sent`(_ line: String) async throws {
    let run = try await Self.run("sluice \(line) <&-")
    #expect(run.status == "2\n" && run.requestCount == 0, "\(run)")
    #expect(run.error.contains("cannot read ") && run.error.contains("Bad file descriptor"), "\(run)")
  }

  @Test(arguments: ["/dev/stderr", "aside", "/dev/fd/../fd/2"], ["-o", "-o body -D", "-o body --events"])
  func `every name of standard error leads to it, and nothing is emptied`(
    _ name: String, _ option: String
  ) async throws {
    let run = try await Self.run("sluice send \(option) \(name) URL")
    #expect(run.status == "0\n" && run.error.hasPrefix("earlier\n") && run.error.count > 8, "\(run)")
  }
}
