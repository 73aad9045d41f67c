import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// Files that `send` uses for passwords, options and cookies, and the names of output files.
@Suite struct SendFileTests {
  @Test(arguments: [
    ("machine h login u password p", "h", nil, "u", "p"), ("machine h\nlogin u\npassword p\n", "h", nil, "u", "p"),
    ("machine a login 1 password 2\nmachine b login 3 password 4", "b", nil, "3", "4"),
    ("machine h login u password p machine h login v password q", "h", "v", "v", "q"),
    ("default login u password p", "any", nil, "u", "p"),
    ("machine H.Example login u password p", "h.example", nil, "u", "p"),
    ("# machine h login x\nmachine h login u password \"a b\\\"c\"", "h", nil, "u", "a b\"c"),
    ("macdef init\ncd /\nmachine x\n\nmachine h login u password p", "h", nil, "u", "p"),
    ("machine h account a login u password p", "h", nil, "u", "p"),
    ("machine h\nmachine h login u password p", "h", nil, "u", "p"),
    ("machine h default login u password p", "h", nil, "u", "p"),
    ("machine h password x machine h login u password p", "h", "u", "u", "p"),
  ])
  func `an entry of a netrc file is found`(
    _ text: String, _ host: String, _ wanted: String?, _ user: String, _ password: String
  ) throws {
    let entry = try #require(Netrc(text.utf8, file: "f").entry(for: host, user: wanted.map { Array($0.utf8) }))
    #expect(entry.user == Array(user.utf8) && entry.password == Array(password.utf8))
  }

  @Test(arguments: [
    ("machine", "\"machine\" at the end has no value"), ("login u", "f:1: \"login\" is before the first machine"),
    ("\nmachine h nonsense", "f:2: expected machine"), ("machine h password \"x", "\" has no end"),
  ])
  func `a wrong netrc file is refused, and the error names the line`(_ text: String, _ message: String) {
    #expect { try Netrc(text.utf8, file: "f") } throws: { "\($0)".contains(message) }
  }

  @Test func `an entry with only a password applies to any user, and one without both to none`() throws {
    let entry = try #require(Netrc("machine h password p".utf8, file: "f").entry(for: "h", user: Array("u".utf8)))
    #expect(entry.user == nil && entry.password == Array("p".utf8))
    for text in ["machine h", "default", "machine h account a"] {
      #expect(try Netrc(text.utf8, file: "f").entry(for: "h", user: nil) == nil, "\(text)")
      #expect(try Netrc(text.utf8, file: "f").entry(for: "h", user: Array("u".utf8)) == nil, "\(text)")
    }
  }

  @Test func `a host without an entry gets no password`() throws {
    let netrc = try Netrc("machine a login u password p".utf8, file: "f")
    #expect(netrc.entry(for: "b", user: nil) == nil)
    #expect(netrc.entry(for: "a", user: Array("other".utf8)) == nil)
  }

  @Test(arguments: [
    ("--nosuch", "f:1: unknown option --nosuch"), ("\nurl", "f:2: --url needs a value"),
    ("data = \"x", "f:1: \" has no end"),
    ("plugin = x", "f:1: unknown option --plugin"), ("-d a b c\n-X", "f:2: -X needs a value"),
  ])
  func `a wrong file of options is refused, and the error names the line`(_ text: String, _ message: String) {
    #expect { try OptionsFile.read(Array(text.utf8), of: "f") } throws: { "\($0)".contains(message) }
  }

  @Test func `a file of options that names itself is refused`() async throws {
    let folder = try TemporaryDirectory()
    let file = folder.path("options")
    try folder.write("options = \(file)\n", to: "options")
    let result = try await Tool.run("send", "-K", file, "http://127.0.0.1:1/")
    #expect(result.status == 2 && result.errorText.contains("files name each other more than 8 times"))
  }

  @Test(arguments: [
    ("attachment; filename=a.txt", "a.txt"), ("attachment; filename=\"a b.txt\"", "a b.txt"),
    ("inline;FileName = x", "x"),
    ("attachment; filename=\"/etc/passwd\"", "passwd"), ("attachment; filename=\"..\\..\\x.exe\"", "x.exe"),
    ("attachment; filename*=UTF-8''%C3%BC.txt", "ü.txt"), ("attachment; filename=a; filename*=UTF-8''b", "a"),
    ("attachment; filename=\"a\\\"b\"", "a\"b"), ("attachment; filename=\"a;b\"", "a;b"),
  ])
  func `only the last component of a file name from the server is used`(_ field: String, _ name: String) {
    #expect(ContentDisposition.filename(Array(field.utf8)) == Array(name.utf8))
  }

  @Test(arguments: [
    "attachment", "attachment; filename=", "attachment; filename=..", "attachment; filename=\"a/\"",
    "attachment; filename=.",
    "attachment; filename*=UTF-8''%2e%2e", "attachment; filename*=UTF-8''a%0Ab", "attachment; filename*=UTF-8''%ff",
    "attachment; filename*=latin1''a", "attachment; filename=\"a\u{1B}b\"", "", "; filename",
  ])
  func `a server's file name is not used if it is invalid or leads out of the folder`(_ field: String) {
    #expect(ContentDisposition.filename(Array(field.utf8)) == nil)
  }

  @Test func `-J never overwrites a file and follows no symbolic link`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(
        headers: [HeaderLine("Content-Disposition", "attachment; filename=taken.txt")], body: .bytes(Array("new".utf8)))
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let other = try folder.write("secret", to: "other.txt")
    for prepare in ["echo old >taken.txt", "ln -s other.txt taken.txt", "ln -s nowhere taken.txt"] {
      let result = try await Command.run(
        "sh",
        ["-c", "cd \(folder.path) && rm -f taken.txt && \(prepare) && exec \(Tool.path) send -OJ \(server.baseURL)/x"],
        environment: Tool.cleared)
      #expect(result.status != 0 && result.errorText.contains("taken.txt: File exists"), "\(result.errorText)")
    }
    #expect(try FileTree.readText(other) == "secret")
    #expect(Set(FileTree.names(in: folder.path)) == ["other.txt", "taken.txt"])
  }

  @Test func `a cookie jar is readable only by its owner, and a jar that cannot be written is an error`() async throws {
    let server = try LoopbackServer { _ in ServerResponse(headers: [HeaderLine("Set-Cookie", "a=1")]) }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let jar = folder.path("jar")
    #expect(try await Tool.run("send", "--cookie-jar", jar, server.baseURL).status == 0)
    #expect(try await Command.run("stat", ["-c", "%a", jar]).outputText == "600\n")
    let result = try await Tool.run("send", "--cookie-jar", "/nowhere/jar", server.baseURL)
    #expect(result.status == 23 && result.errorText.contains("--cookie-jar"), "\(result.errorText)")
  }

  @Test(arguments: ["mkfifo jar", "ln -s other jar", "mkdir jar"])
  func `a cookie jar does not replace a symbolic link, a pipe or a folder`(_ prepare: String) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let result = try await Command.run(
      "sh",
      [
        "-c",
        "cd \(folder.path) && \(prepare) && stat -c %i jar && \(Tool.path) send -s -m 0.2 --cookie-jar jar \(server.baseURL); stat -c %i jar",
      ],
      environment: Tool.cleared)
    let lines = result.outputText.split(separator: "\n")
    #expect(lines.first == lines.last && lines.count == 2, "\(result.outputText)")
    let reason = prepare.hasPrefix("mkfifo") ? "no process has opened the pipe" : "it is not a regular file"
    #expect(result.errorText.contains(reason), "\(result.errorText)")
  }

  @Test(arguments: ["-o", "-D", "--cookie-jar", "--events", "--har"])
  func `a message shows the invisible characters of a file's name`(_ option: String) async throws {
    let result = try await Tool.run("send", "-s", option, "/nowhere\u{202E}\u{200B}\n/f", "http://127.0.0.1:1/")
    #expect(result.status != 0 && result.errorText.contains(#"/nowhere\u{202E}\u{200B}\n/f"#), "\(result.errorText)")
  }

  @Test(arguments: [
    ["--har", "f", "-o", "f"], ["--har", "f", "-o", "f", "-o", "g"], ["-D", "f", "-T", "f"],
    ["--record", "f", "-d", "@f"],
    ["--events", "f", "-F", "x=@f;type=a/b"], ["--cookie-jar", "f", "-o", "f"], ["--har", "./f", "-K", "f"],
    ["-o", "f", "-F", "x=<f"],
    ["-D", "link", "--data-urlencode", "n@f"],
  ])
  func `a file cannot be used for two options`(_ words: [String]) async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write("silent\n", to: "f")
    #expect(try await Command.run("ln", ["-s", "f", folder.path("link")]).status == 0)
    let quoted = words.map { ShellWords.quoted(Array($0.utf8)) }.joined(separator: " ")
    let result = try await Command.run(
      "sh", ["-c", "cd \(folder.path) && exec \(Tool.path) send \(quoted) http://127.0.0.1:1/ http://127.0.0.1:1/"],
      environment: Tool.cleared)
    #expect(result.status == 2 && result.errorText.contains("is also the file of"), "\(result.errorText)")
    #expect(try FileTree.readText(file) == "silent\n")
  }

  @Test func `with several URLs, -d reads a pipe only once, and -T sends a pipe while it is read`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let script = """
      cd \(folder.path) && mkfifo p && (echo a=1 >p &) && \(Tool.path) send -d @p \(server.baseURL) \(server.baseURL)
      (echo b=2 >p &) && exec \(Tool.path) send -T p \(server.baseURL)/t
      """
    let result = try await Command.run("sh", ["-c", script], environment: Tool.cleared)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["a=1", "a=1", "b=2\n"])
  }

  @Test(arguments: [2, 15])
  func `a signal ends a command that waits for its input`(_ signal: Int32) async throws {
    let command = try Tool.start("send", "-d", "@-", "http://127.0.0.1:1/")
    let end = ContinuousClock.now + Patience.limit
    while !Self.threads(of: command.processID).contains("sluice-signals\n") {
      try #require(ContinuousClock.now < end)
      await Task.yield()
    }
    command.send(signal: signal)
    #expect(try await command.wait().status == 128 + signal)
  }

  private static func threads(of process: Int32) -> [String] {
    let folder = "/proc/\(process)/task"
    return FileTree.names(in: folder).compactMap { try? FileTree.readText("\(folder)/\($0)/comm") }
  }

  @Test func `a file that was not written is not removed`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/404"
        ? .text("no", status: 404)
        : ServerResponse(headers: [HeaderLine("Content-Disposition", "attachment; filename=taken.txt")])
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write("precious", to: "taken.txt")
    func send(_ words: String) async throws -> Int32 {
      try await Command.run(
        "sh", ["-c", "cd \(folder.path) && exec \(Tool.path) send --remove-on-error \(words)"],
        environment: Tool.cleared
      ).status
    }
    #expect(try await send("-OJ \(server.baseURL)/x") == 23)
    #expect(try await send("-f -o taken.txt \(server.baseURL)/404") == 22)
    #expect(try await send("-o taken.txt http://127.0.0.1:1/") == 7)
    #expect(try FileTree.readText(file) == "precious")
    #expect(try await send("--no-fail -o kept.txt \(server.baseURL)/404") == 0)
    #expect(try FileTree.readText(folder.path("kept.txt")) == "no")
    #expect(try await send("-o kept.txt \(server.baseURL)/404") == 22)
    #expect(!FileTree.exists(folder.path("kept.txt")))
  }

  @Test func `-C refuses to continue a file that is larger than the server's`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(status: 416, headers: [HeaderLine("Content-Range", "bytes */3")])
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write("0123456789", to: "file")
    let result = try await Tool.run("send", "-C", "-", "-o", file, server.baseURL)
    #expect(
      result.status == 33 && result.errorText.contains("the local file has 10 bytes, but the server's has 3"),
      "\(result.status) \(result.errorText)")
    #expect(try FileTree.readText(file) == "0123456789")
  }

  @Test func `-C succeeds if a server without ranges has no more bytes than the file`() async throws {
    let server = try LoopbackServer { _ in .text("0123456789") }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    for (text, status) in [("0123456789", 0), ("012345678", 33), ("0123456789a", 33)] {
      let file = try folder.write(text, to: "file")
      let result = try await Tool.run("send", "-C", "-", "-o", file, server.baseURL)
      #expect(result.status == status, "\(text): \(result.errorText)")
      #expect(try FileTree.readText(file) == text)
    }
  }

  @Test(arguments: [
    ["-o", "../x", "--output-dir", "d", "http://h/"], ["-o", "a/../../x", "--output-dir", "d", "http://h/"],
    ["-o", "#1", "--output-dir", "d", "http://h/{..}"],
  ])
  func `an output name that leads out of --output-dir is refused`(_ words: [String]) async throws {
    let result = try await Tool.run(arguments: ["send"] + words)
    #expect(result.status == 2 && result.errorText.contains("leads out of --output-dir"), "\(result.errorText)")
  }

  @Test(arguments: ["http://me:s3cret@h/{a", "http://me:s3cret@h/[1-9][1-99999999999][1-99999999999]"])
  func `the error for a wrong URL pattern does not contain the password`(_ url: String) async throws {
    let result = try await Tool.run("send", url)
    #expect(result.status == 2 && !result.errorText.contains("s3cret"), "\(result.errorText)")
    let name = try await Tool.run("send", "-O", "http://me:s3cret@h/")
    #expect(name.status == 2 && !name.errorText.contains("s3cret"), "\(name.errorText)")
  }

  @Test(arguments: [404, 500, 200, 416, 302, 206])
  func `a file that -C cannot continue is not changed`(_ status: Int) async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(
        status: status, headers: [HeaderLine("Content-Range", "bytes 2-4/9")], body: .bytes(Array("error".utf8)))
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write("0123456789", to: "file")
    let result = try await Tool.run("send", "-C", "-", "-o", file, "--no-location", server.baseURL)
    #expect(try FileTree.readText(file) == "0123456789", "\(result.errorText)")
  }

  @Test func `cookies of a jar and passwords of a netrc file are sent only to their host`() async throws {
    let other = try LoopbackServer()
    defer { other.stop() }
    let place = other.baseURL.replacing("127.0.0.1", with: "localhost")
    let server = try LoopbackServer { _ in ServerResponse(status: 302, headers: [HeaderLine("Location", place)]) }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let jar = try folder.write("127.0.0.1\tFALSE\t/\tFALSE\t0\tjar\tsecret\n", to: "jar")
    let netrc = try folder.write("machine 127.0.0.1 login me password secret\n", to: "netrc")
    #expect(
      try await Tool.run(
        "send", "--location-trusted", "-b", jar, "-b", "given=1", "-H", "X-API-Key: k", "--netrc-file", netrc,
        server.baseURL
      ).status == 0)
    let first = try #require(server.requests.first), second = try #require(other.requests.first)
    #expect(first.headers.first("cookie") == "jar=secret; given=1" && first.headers.first("authorization") != nil)
    #expect(second.headers.first("cookie") == "given=1" && second.headers.first("authorization") == nil)
    #expect(second.headers.first("x-api-key") == "k")
  }

  @Test func `a line of a cookie file that is no cookie is ignored with a warning, and the other lines count`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      "\u{FEFF}127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\nHTTP/1.1 200 OK\n127.0.0.1\tFALSE\t/\tFALSE\tsoon\tb\t2\n"
        + "127.0.0.1\tfalse\t/\tfalse\t-1\tc\t3\n127.0.0.1\tFALSE\t/\tFALSE\t4102444800.5\td\t4\n"
        + "127.0.0.1\tFALSE\t/\tFALSE\t0\te", to: "cookies.txt")
    let result = try await Tool.run("send", "-b", file, server.baseURL)
    #expect(result.status == 0 && server.requests.first?.headers.first("cookie") == "a=1; c=3; d=4; e=")
    for message in ["cookies.txt:2: it has 1 fields and not 7", "cookies.txt:3: field 5 is not a time"] {
      #expect(result.errorText.contains(message), "\(result.errorText)")
    }
    #expect(try await Tool.run("send", "-s", "-b", file, server.baseURL).errorText.isEmpty)
  }
}
