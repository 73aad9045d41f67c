import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Files that `send` and `run` write and read, and that are not regular files, or whose size is unknown.
@Suite struct SendTargetTests {
  private static func server(_ byteCount: Int = 5) throws -> LoopbackServer {
    try LoopbackServer { _ in
      ServerResponse(
        headers: [HeaderLine("Set-Cookie", "a=1")],
        body: .generated(BytePattern(Array("x".utf8)), byteCount: UInt64(byteCount), chunked: false))
    }
  }

  private static func fifo() throws -> (folder: TemporaryDirectory, path: String) {
    let folder = try TemporaryDirectory()
    let path = folder.path("fifo")
    try #require(mkfifo(path, 0o600) == 0)
    return (folder, path)
  }

  @Test(arguments: ["-o", "-D", "--events", "--cookie-jar"])
  func `a FIFO without a reader fails after -m, names the file, and nothing is sent`(_ option: String) async throws {
    let server = try Self.server()
    defer { server.stop() }
    let (folder, path) = try Self.fifo()
    let result = try await Tool.run("send", "-m", "0.2s", option, path, server.baseURL)
    #expect(result.status != 0 && server.requestCount == 0)
    #expect(result.errorText.contains("\(path): no process has opened the pipe for reading"), "\(result.errorText)")
    withExtendedLifetime(folder) {}
  }

  @Test func `a FIFO whose reader comes later gets the body`() async throws {
    let server = try Self.server(300_000)
    defer { server.stop() }
    let (folder, path) = try Self.fifo()
    let result = try await Command.run(
      "sh", ["-c", "\(Tool.path) send -s -m 60 -o \(path) \(server.baseURL) & cat \(path) | wc -c; wait $!"],
      environment: Tool.cleared)
    #expect(result.status == 0 && result.outputText == "300000\n", "\(result.errorText)")
    withExtendedLifetime(folder) {}
  }

  @Test func `after -m, an output whose reader takes nothing is given up`() async throws {
    let server = try Self.server(8_000_000)
    defer { server.stop() }
    let (folder, path) = try Self.fifo()
    let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(reader) }
    // On a slow machine, nothing has arrived before the limit. The command ends in any case.
    let result = try await Tool.run("send", "-m", "2s", "-o", path, server.baseURL)
    #expect(result.status == 28, "\(result.errorText)")
    withExtendedLifetime(folder) {}
  }

  @Test func `a body that arrived in time is not held longer than -m by a reader that takes nothing`() async throws {
    let server = try Self.server(1_000_000)
    defer { server.stop() }
    let (folder, path) = try Self.fifo()
    let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(reader) }
    let result = try await Tool.run("send", "-m", "3s", "-o", path, server.baseURL)
    #expect(result.status == 23, "\(result.errorText)")
    #expect(result.errorText.contains("has accepted no bytes for 3s"), "\(result.errorText)")
    withExtendedLifetime(folder) {}
  }

  @Test func `a socket is refused by name`() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.path("socket")
    try #require(mknod(path, S_IFSOCK | 0o600, 0) == 0)
    let result = try await Tool.run("send", "-o", path, "http://127.0.0.1:1/")
    #expect(result.status == 23 && result.errorText.contains("it is a socket; name a file"), "\(result.errorText)")
  }

  @Test(arguments: [
    ("send -o /dev/fd/9 URL", 23), ("send -o LONG URL", 23), ("send -O URL/LONG", 23), ("send -o d/LONG URL", 23),
    ("send --create-dirs -o new/LONG URL", 23), ("send -o away URL", 23), ("send --cookie-jar /dev/fd/9 URL", 23),
    ("send --cookie-jar LONG URL", 23), ("send -D LONG URL", 23), ("send --events LONG URL", 23),
    ("send --har LONG URL", 23), ("send --record LONG URL", 23), ("run -q -i in -o /dev/fd/9", 1),
    ("run -q -i in -o LONG", 1),
  ])
  func `a file that can never be created is refused before anything is sent`(_ line: String, _ status: Int) async throws
  {
    let server = try Self.server()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    try folder.write(#"{"url":"\#(server.baseURL)/"}"# + "\n", to: "in")
    let line = line.replacing("URL", with: server.baseURL).replacing("LONG", with: String(repeating: "n", count: 256))
    let script = "cd \(folder.path) && mkdir d && ln -s nowhere/x away && exec \(Tool.path) \(line) 9>&-"
    let result = try await Command.run("sh", ["-c", script], environment: Tool.cleared)
    #expect(result.status == status && server.requestCount == 0, "\(result.errorText)")
    let words = line.contains("nnn") ? "File name too long" : "No such file or directory"
    #expect(result.errorText.contains(words), "\(result.errorText)")
  }

  @Test(arguments: [
    ("-D /dev/full -o body", "-D: cannot write /dev/full: No space left on device after 0 bytes"),
    ("-o /dev/full", "cannot write /dev/full: No space left on device after 0 bytes"),
    ("--events /dev/full -o body", "cannot write /dev/full: No space left on device"),
    ("--cookie-jar /dev/full -o body", "--cookie-jar: cannot write /dev/full: No space left on device"),
    ("-w x -o body >/dev/full", "cannot write standard output: No space left on device"),
    ("--cookie-jar - -o body >/dev/full", "cannot write standard output: No space left on device"),
    ("--curl >/dev/full", "cannot write standard output: No space left on device"),
    ("--create-dirs -o file/x/y", "cannot create the folder ./file/x: Not a directory"),
  ])
  func `every output that cannot be written has one status, and the message counts its own bytes`(
    _ words: String, _ message: String
  ) async throws {
    let server = try Self.server()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let script = "cd \(folder.path) && touch file && exec \(Tool.path) send \(server.baseURL) \(words)"
    let result = try await Command.run("sh", ["-c", script], environment: Tool.cleared)
    #expect(result.status == 23 && result.errorText.contains(message), "\(result.status) \(result.errorText)")
  }

  @Test func `a name in the URL that is too long does not matter if the server names the file`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(headers: [HeaderLine("Content-Disposition", "attachment; filename=short")])
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let url = "\(server.baseURL)/\(String(repeating: "n", count: 256))"
    let result = try await Tool.run("send", "-OJ", "--output-dir", folder.path, url)
    #expect(result.status == 0 && FileTree.names(in: folder.path) == ["short"], "\(result.errorText)")
  }

  @Test func `a cookie jar can be a descriptor of a pipe`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let script = "\(Tool.path) send -s --cookie-jar /dev/fd/7 \(server.baseURL) 7>&1 >/dev/null | cat"
    let result = try await Command.run("sh", ["-c", script], environment: Tool.cleared)
    #expect(result.outputText.hasSuffix("a\t1\n") && result.errorText.isEmpty, "\(result)")
  }

  @Test func `a cookie jar is written to a device and to a pipe with a reader, which both stay`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let (folder, path) = try Self.fifo()
    #expect(try await Tool.run("send", "-s", "--cookie-jar", "/dev/null", server.baseURL).status == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(reader) }
    #expect(try await Tool.run("send", "-s", "--cookie-jar", path, server.baseURL).status == 0)
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(reader, &bytes, bytes.count)
    #expect(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).contains("a\t1\n"))
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode == S_IFIFO | 0o600)
    withExtendedLifetime(folder) {}
  }

  /// stat(2) says that these files have 0 bytes, or as many as a page.
  @Test(arguments: ["/proc/version", "/sys/kernel/mm/transparent_hugepage/enabled"])
  func `a file whose size the system does not know is sent completely`(_ path: String) async throws {
    guard access(path, R_OK) == 0 else { return }
    let content = try FileTree.readText(path)
    let server = try LoopbackServer { request in ServerResponse(body: .bytes(request.body)) }
    defer { server.stop() }
    for options in [["-T", path], ["--data-binary", "@\(path)"], ["-T", path, "--limit-rate", "1M"]] {
      let result = try await Tool.run(arguments: ["send", "-s"] + options + [server.baseURL + "/"])
      #expect(result.outputText == content, "\(options): \(result.errorText)")
    }
    let form = try await Tool.run("send", "-s", "-F", "a=@\(path)", server.baseURL)
    #expect(form.outputText.contains("\r\n\r\n\(content)\r\n--"), "\(form.errorText)")
    let run = try await Tool.run(
      "run", "-q", input: #"{"method": "PUT", "url": "\#(server.baseURL)", "body": {"file": "\#(path)"}}"# + "\n")
    #expect(try run.documents.first?["response"]?["body"]?["text"]?.string == content, "\(run.errorText)")
  }

  @Test func `-J writes no hidden file`() async throws {
    let server = try LoopbackServer { request in
      let name = request.target == "/header" ? ".bashrc" : ""
      let fields = name.isEmpty ? [] : [HeaderLine("Content-Disposition", "attachment; filename=\"\(name)\"")]
      return ServerResponse(headers: fields, body: .bytes(Array("x".utf8)))
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    for path in ["/header", "/.profile"] {
      let result = try await Tool.run("send", "-s", "-OJ", "--output-dir", folder.path, server.baseURL + path)
      #expect(result.status == 0, "\(result.errorText)")
    }
    // A URL that somebody has typed names its file itself.
    #expect(try await Tool.run("send", "-s", "-O", "--output-dir", folder.path, server.baseURL + "/.x").status == 0)
    #expect(Set(FileTree.names(in: folder.path)) == [".x", "_bashrc", "_profile"])
  }

  @Test func `-J does not write to a pipe that has the name in the URL`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let (folder, path) = try Self.fifo()
    let result = try await Tool.run("send", "-OJ", "--output-dir", folder.path, server.baseURL + "/fifo")
    #expect(result.status == 23 && result.errorText.contains("\(path): File exists"), "\(result.errorText)")
  }
}
