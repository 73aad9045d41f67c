import SluiceMessages
import SluiceServer
import SluiceTestKit
import Testing

@testable import SluiceCommand

/// Files that `send` reads and writes besides bodies: passwords, options, cookies, names of outputs.
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
  ])
  func `an entry of a netrc file is found`(
    _ text: String, _ host: String, _ wanted: String?, _ user: String, _ password: String
  ) throws {
    let entry = try #require(Netrc(text, file: "f").entry(for: host, user: wanted))
    #expect(entry.user == user && entry.password == password)
  }

  @Test(arguments: [
    ("machine", "\"machine\" at the end has no value"), ("login u", "f:1: \"login\" is before the first machine"),
    ("\nmachine h nonsense", "f:2: unknown word \"nonsense\""), ("machine h password \"x", "\" has no end"),
  ])
  func `a wrong netrc file is refused with the line`(_ text: String, _ message: String) {
    #expect { try Netrc(text, file: "f") } throws: { "\($0)".contains(message) }
  }

  @Test func `a host without an entry gets no password`() throws {
    #expect(try Netrc("machine a login u password p", file: "f").entry(for: "b", user: nil) == nil)
    #expect(try Netrc("machine a login u password p", file: "f").entry(for: "a", user: "other") == nil)
  }

  @Test(arguments: [
    ("--nosuch", "f:1: unknown option --nosuch"), ("\nurl", "f:2: --url needs a value"),
    ("data = \"x", "f:1: \" has no end"),
    ("plugin = x", "f:1: unknown option --plugin"), ("-d a b c\n-X", "f:2: -X needs a value"),
  ])
  func `a wrong file of options is refused with the line`(_ text: String, _ message: String) {
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
  func `a server's name is its last component`(_ field: String, _ name: String) {
    #expect(ContentDisposition.filename(field) == name)
  }

  @Test(arguments: [
    "attachment", "attachment; filename=", "attachment; filename=..", "attachment; filename=\"a/\"",
    "attachment; filename=.",
    "attachment; filename*=UTF-8''%2e%2e", "attachment; filename*=UTF-8''a%0Ab", "attachment; filename*=UTF-8''%ff",
    "attachment; filename*=latin1''a", "attachment; filename=\"a\u{1B}b\"", "", "; filename",
  ])
  func `a name that leads elsewhere is not taken`(_ field: String) {
    #expect(ContentDisposition.filename(field) == nil)
  }

  @Test func `-J never overwrites, and follows no link`() async throws {
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

  @Test func `a jar is private, and keeps what it had when it cannot be written`() async throws {
    let server = try LoopbackServer { _ in ServerResponse(headers: [HeaderLine("Set-Cookie", "a=1")]) }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let jar = folder.path("jar")
    #expect(try await Tool.run("send", "--cookie-jar", jar, server.baseURL).status == 0)
    #expect(try await Command.run("stat", ["-c", "%a", jar]).outputText == "600\n")
    let result = try await Tool.run("send", "--cookie-jar", "/nowhere/jar", server.baseURL)
    #expect(result.status == 1 && result.errorText.contains("--cookie-jar"), "\(result.errorText)")
  }

  @Test func `a damaged file of cookies is refused with the line`() async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write("# Netscape\nHTTP/1.1 200 OK\n", to: "heads")
    let result = try await Tool.run("send", "-b", file, "http://127.0.0.1:1/")
    #expect(
      result.status == 2 && result.errorText.contains("heads:2: it has 1 fields and not 7"), "\(result.errorText)")
  }
}
