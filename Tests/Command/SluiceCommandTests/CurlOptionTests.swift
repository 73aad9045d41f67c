import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// Options of curl that `CurlComparisonTests` does not cover.
@Suite struct CurlOptionTests {
  @Test(arguments: [
    (["-w", "%{http_cod}"], "-w: unknown variable \"http_cod\"; did you mean %{http_code}?"),
    (["-w", "%{nothing_like_it}"], "the variables are content_type, errormsg, exitcode, "),
    (["--json-bodies"], "--json-bodies needs --document"), (["--metadata"], "--metadata needs --document"),
    (["-w", "@/nowhere"], "-w: cannot read /nowhere"),
    (["-O"], "-O: the path of"), (["-O", "-o", "x"], "there are more outputs (-o, -O) than URLs: 2 for 1"),
    (["--output-dir", "d"], "--output-dir needs -o or -O"), (["--create-dirs"], "--create-dirs needs -o or -O"),
    (["-f", "--no-fail"], "give only one of -f, --fail-with-body and --no-fail"),
    (["-F", "a"], "-F: expected NAME=VALUE, found \"a\""), (["-F", "=b"], "-F: expected NAME=VALUE"),
    (["-F", "a=b;c"], "-F: unknown parameter \"c\""), (["-F", "a=@/nowhere"], "-F: cannot read /nowhere"),
    (["-F", "a=1", "-d", "b"], "give only one of data"), (["-T", "/nowhere"], "-T: cannot read /nowhere"),
    (["-T", "/etc/passwd", "-d", "a"], "give only one of data"), (["-G", "-F", "a=1"], "-G takes data"),
    (["--key", "k"], "--key needs --cert"),
    (["--retry-delay", "1s"], "--retry-delay needs --retry N"), (["--retry", "-1"], "--retry: expected a number"),
    (["--no-location", "-L"], "give either --no-location"), (["-4", "-6"], "give either -4 or -6"),
  ])
  func `wrong options are refused before anything is sent`(_ options: [String], _ message: String) async throws {
    let result = try await Tool.run(arguments: ["send"] + options + ["http://127.0.0.1:9/"])
    #expect(result.status == 2 && result.errorText.contains(message), "\(result.errorText)")
  }

  @Test(arguments: [
    ("http://h/a/b.txt", "b.txt"), ("h/a?b=/c", "a"), ("https://h/x#/y", "x"), ("http://h/%2e%2e", "%2e%2e"),
    ("http://h/a/..%2fb", "..%2fb"),
  ])
  func `-O uses the last component of the URL's path unchanged as the file's name`(
    _ url: String, _ name: String
  ) throws {
    #expect(try OutputPath.remoteName(url) == name)
  }

  @Test(arguments: ["http://h", "http://h/", "h", "http://h/a/", "http://h/..", "http://h/a/.", "http://h/a\u{7}", ""])
  func `-O refuses a URL whose path ends without a file name`(_ url: String) {
    #expect(throws: CommandError.self) { try OutputPath.remoteName(url) }
  }

  @Test func `with --no-fail an error status is a success, and other failures are not`() async throws {
    let server = try LoopbackServer { _ in .text("no", status: 500) }
    defer { server.stop() }
    let result = try await Tool.run("send", "--no-fail", server.baseURL)
    #expect(result.status == 0 && result.outputText == "no" && result.errorText.isEmpty)
    #expect(try await Tool.run("send", "--no-fail", "http://127.0.0.1:1/").status == 7)
  }

  @Test func `with --retry, a failed request is sent again`() async throws {
    let count = Watched(0)
    let server = try LoopbackServer { _ in
      count.update { $0 += 1 }
      return count.value < 3 ? .text("later", status: 503) : .text("now")
    }
    defer { server.stop() }
    let result = try await Tool.run("send", "-d", "a", "--retry", "2", "--retry-delay", "10ms", server.baseURL)
    #expect(result.status == 0 && result.outputText == "now" && count.value == 3, "\(result.errorText)")
  }

  @Test func `the password of -u is not printed`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Tool.run(
      "send", "-o", "/dev/null", "-u", "me:pw", "-w", "%{url} %{url_effective}", server.baseURL)
    #expect(result.outputText == "\(server.baseURL) \(server.baseURL)/")
  }

  @Test func `-w prints all variables, and the header, as JSON`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(
        status: 201, headers: [HeaderLine("X-A", "1"), HeaderLine("x-a", "2 \u{FC}"), HeaderLine("X-B", "")],
        body: .bytes(Array("four".utf8)))
    }
    defer { server.stop() }
    let result = try await Tool.run(
      "send", "-s", "-o", "/dev/null", "-o", "/dev/null", "-w", "%{json}\\n%{header_json}\\n",
      server.baseURL + "/{a,b}",
      server.baseURL + "/c")
    #expect(result.status == 0, "\(result.errorText)")
    let lines = try result.outputText.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    try #require(lines.count == 6)
    #expect([0, 2, 4].map { lines[$0]["urlnum"]?.integer } == [0, 0, 1])
    #expect(lines[0]["http_code"]?.integer == 201 && lines[0]["size_download"]?.integer == 4)
    #expect(lines[0]["url"]?.string == server.baseURL + "/a" && lines[0]["errormsg"] == .null)
    #expect(lines[0]["content_type"] == .null && lines[0]["filename_effective"]?.string == "/dev/null")
    #expect((lines[0]["time_total"]?.number ?? -1) > 0)
    #expect(lines[1]["x-a"] == ["1", "2 \u{FC}"] && lines[1]["x-b"] == [""])
  }

  @Test func `an unknown response has no header, and the status 0, in JSON`() async throws {
    let result = try await Tool.run("send", "-s", "-w", "%{json}\\n%{header_json}", "http://127.0.0.1:1/")
    let lines = try result.outputText.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    #expect(result.status == 7 && lines.count == 2)
    #expect(lines.first?["http_code"]?.integer == 0 && lines.first?["exitcode"]?.integer == 7)
    #expect(lines.first?["errormsg"]?.string?.contains("refused") == true && lines.last == .object())
  }

  @Test func `advice names the option that was given`() async throws {
    let server = try LoopbackServer { _ in .text(String(repeating: "x", count: 100)) }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"transport": {"maxResponseBytes": 10}}"#, to: "c.json")
    for (options, advice) in [
      (["--max-filesize", "10"], "raise --max-filesize"),
      (["-c", file], "raise transport.maxResponseBytes"),
      (["--unix-socket", String(repeating: "x", count: 200)], "see --unix-socket"),
    ] {
      let result = try await Tool.run(arguments: ["send", "-o", "/dev/null"] + options + [server.baseURL])
      #expect(result.errorText.contains(advice), "\(result.errorText)\(result.outputText)")
    }
  }

  @Test func `a server that sends nothing ends send with status 52`() async throws {
    let server = try ScriptedServer(.receiveHead, .close)
    defer { server.stop() }
    #expect(try await Tool.run("send", server.baseURL).status == 52)
  }
}
