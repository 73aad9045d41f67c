import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// Status 2 promises that nothing was sent, so `send` checks all requests before it sends the first.
@Suite struct SendCheckTests {
  /// Runs `send`. `URL` in an argument stands for the server, `DIR` for an empty folder.
  private static func run(_ arguments: [String], input: String = "") async throws -> (CommandResult, sent: Int) {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let words = arguments.map {
      $0.replacing("URL", with: server.baseURL).replacing("DIR", with: folder.path)
    }
    let result = try await Tool.run(arguments: ["send"] + words, input: input.replacing("URL", with: server.baseURL))
    return (result, server.requestCount)
  }

  @Test(arguments: [
    (["URL/a", "http://h h/"], "a space"), (["-Z", "URL/a", "http://h h/"], "a space"),
    (["URL/{ok,a b}"], "a space"), (["URL/[1-3]{ok,a b}"], "a space"), (["URL/[1-30000]/{ok,a b}"], "a space"),
    (["URL/a", "http://127.0.0.1:[65534-65536]/"], "port"), (["URL/a", "http://127.0.0.[250-256]/"], "host"),
    (["URL/a", "http://127.0.0.1:[1-99999]/"], "port"), (["URL/a", "ftp://h/"], "ftp"),
    (["URL/a", "--url", "http:///"], "host"),
    (["-T", "/etc/hostname", "-T", "DIR/missing", "URL/a", "URL/b"], "-T: cannot read"),
    (["-T", "/etc/hostname", "-T", "DIR", "URL/a", "URL/b"], "Is a directory"),
    (["-O", "-O", "URL/a", "URL/"], "does not end with the name of a file"),
    (["-O", "--output-dir", "DIR", "URL/{a,}"], "does not end with the name of a file"),
    (["--remote-name-all", "URL/a", "URL/b/", "--output-dir", "DIR"], "does not end with the name of a file"),
    (["-O", "-J", "--output-dir", "DIR", "URL/a", "URL/b"], "-J needs -O"),
    (["-C", "-", "-o", "DIR/a", "URL/a", "URL/b"], "-C - needs -o"),
    (["-o", "DIR/a", "-o", "", "URL/a", "URL/b"], "the name of an output file is empty"),
    (["-o", "DIR/#1", "URL/{a,}"], "folder"),
    (["--output-dir", "DIR", "-o", "a", "-o", "../b", "URL/a", "URL/b"], "leads out of --output-dir"),
    (["--digest", "http://me:x@127.0.0.1:9/", "URL/b"], "--digest needs -u"),
    (
      ["--aws-sigv4", "aws:amz", "-u", "a:b", "http://s3.eu.example/", "http://127.0.0.1/"], "does not say the service"
    ),
    (["-X", "DELETE", "URL/a", "–H", "X-Confirm: yes"], "begins with en dash (U+2013)"),
    (["--from-curl", "curl -X DELETE URL/a –H 'X-Confirm: yes'"], "begins with en dash (U+2013)"),
    (["--from-curl", "curl -X DELETE URL/a —data x"], "begins with em dash (U+2014)"),
    (["--from-curl", "curl URL/a 'URL/a b'"], "a space"),
    (["--parallel-max", "0", "-Z", "URL/a"], "--parallel-max"),
  ])
  func `a wrong request among others is refused before the first is sent`(
    _ arguments: [String], _ message: String
  ) async throws {
    let (result, sent) = try await Self.run(arguments)
    #expect(sent == 0 && result.outputText.isEmpty, "\(result.outputText)")
    #expect(
      [2, 23].contains(result.status) && result.errorText.contains(message), "\(result.status) \(result.errorText)")
  }

  @Test func `the URLs of an option file are checked too`() async throws {
    let (result, sent) = try await Self.run(["-K", "-"], input: "url = URL/a\nurl = \"URL/a b\"\n")
    #expect(sent == 0 && result.status == 2 && result.errorText.contains("a space"), "\(result.errorText)")
  }

  @Test(arguments: [
    (["-o", "DIR/a", "-o", "DIR/none/b", "URL/a", "URL/b"], Int32(23), "cannot write"),
    (["--create-dirs", "-o", "DIR/a", "-o", "/etc/hostname/none/b", "URL/a", "URL/b"], 23, "cannot write"),
    (["--cookie-jar", "DIR/none/jar", "URL/a"], 23, "--cookie-jar"),
    (["--cookie-jar", "DIR", "URL/a"], 23, "--cookie-jar"),
  ])
  func `an output that cannot be written is found before the first request is sent`(
    _ arguments: [String], _ status: Int32, _ message: String
  ) async throws {
    let (result, sent) = try await Self.run(arguments)
    #expect(sent == 0 && result.status == status && result.errorText.contains(message), "\(result.errorText)")
  }

  @Test func `the check creates no folder and no file`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let result = try await Tool.run(
      "send", "--create-dirs", "-o", "\(folder.path)/new/a", "-o", "\(folder.path)/new/b", server.baseURL, "http://h h/"
    )
    #expect(result.status == 2 && FileTree.exists("\(folder.path)/new") == false)
    let sent = try await Tool.run(
      "send", "--create-dirs", "-o", "\(folder.path)/#1/x/a", "\(server.baseURL)/{b,c}")
    #expect(sent.status == 0, "\(sent.errorText)")
    #expect(try FileTree.readText("\(folder.path)/c/x/a") == "ok\n")
  }

  @Test func `a file that changes after the check is sent as it was`() async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write("first", to: "data")
    let server = try LoopbackServer { _ in
      _ = try? folder.write("second", to: "data")
      return .text("ok")
    }
    defer { server.stop() }
    let result = try await Tool.run("send", "-d", "@\(file)", "\(server.baseURL)/[1-2]")
    #expect(result.status == 0 && server.requests.map(\.body) == [Array("first".utf8), Array("first".utf8)])
  }

  @Test(arguments: [
    (["-o", "DIR/none/results"], "cannot write"), (["-o", "DIR"], "it is a folder"), (["-o", ""], "is empty"),
    (["--control", "DIR/none/socket"], "control: cannot listen"), (["--control", "DIR"], "control: cannot listen"),
    (["--metrics-port", "PORT"], "--metrics-port: cannot"), (["--rate", "fast"], "--rate"),
    (["--max-per-host", "0"], "--max-per-host"), (["--resume"], "--resume"), (["--har", "DIR/none/har"], "--har"),
    (["--drain", "soon"], "--drain"),
  ])
  func `run checks its options before it loads a plugin, which could send something`(
    _ options: [String], _ message: String
  ) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let words = options.map { $0.replacing("PORT", with: "\(server.port)").replacing("DIR", with: folder.path) }
    // The library does not exist, so loading it would be the first error.
    let result = try await Tool.run(
      arguments: ["run", "--plugin", "/nowhere/plugin.so"] + words, input: #"{"url": "\#(server.baseURL)/"}"# + "\n")
    #expect([1, 2].contains(result.status) && result.errorText.contains(message), "\(result.errorText)")
    #expect(server.requestCount == 0)
  }
}
