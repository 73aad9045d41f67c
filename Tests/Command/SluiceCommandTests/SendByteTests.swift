import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// Bytes that are not UTF-8 pass through `send` unchanged, in both directions.
@Suite struct SendByteTests {
  /// "café" in ISO-8859-1.
  private static let name: [UInt8] = Array("caf".utf8) + [0xE9]

  private static func server() throws -> LoopbackServer {
    try LoopbackServer { _ in
      ServerResponse(
        headers: [
          HeaderLine("X-Name", bytes: name), HeaderLine("Content-Type", bytes: Array("text/plain; n=".utf8) + name),
          HeaderLine("Content-Disposition", bytes: Array("attachment; filename=\"".utf8) + name + Array(".txt\"".utf8)),
          HeaderLine("Set-Cookie", bytes: Array("c=".utf8) + name),
        ], body: .bytes(Array("ok\n".utf8)))
    }
  }

  /// Runs a line of a shell, in which `send` is the command, in an empty folder.
  private static func run(_ script: String, _ server: LoopbackServer) async throws -> CommandResult {
    let folder = try TemporaryDirectory()
    return try await Command.run(
      "sh",
      [
        "-c",
        "cd \(folder.path); send() { \(Tool.path) send \"$@\"; }; \(script.replacing("URL", with: server.baseURL))",
      ],
      environment: Tool.cleared)
  }

  @Test(arguments: [
    "send -i URL", "send -D - URL", "send -s -D heads URL >&2; cat heads", "send -w '%header{x-name}' URL",
    "send -w '%{content_type}' URL", "send --cookie-jar - URL", "send -I URL", "send -i -L URL",
    "send -i --http1.1 URL",
  ])
  func `what a server sends is printed byte by byte`(_ script: String) async throws {
    let server = try Self.server()
    defer { server.stop() }
    let result = try await Self.run(script, server)
    #expect(result.standardOutput.firstRange(of: Self.name) != nil, "\(result.outputText) \(result.errorText)")
    #expect(!result.outputText.contains("caf\u{FFFD}\u{FFFD}"), "\(result.outputText)")
  }

  @Test func `-J uses the bytes of the name, and the file can be named and removed`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let file = Self.name + Array(".txt".utf8)
    let named = try await Self.run("send -OJ -w '%{filename_effective} ' URL/x; ls", server)
    #expect(named.standardOutput == file + [0x20] + file + [0x0A], "\(named.outputText) \(named.errorText)")
    // An existing file is not changed, also if its name is not UTF-8.
    let again = try await Self.run("send -OJ URL/x; send -s -OJ URL/x; echo $?; ls | wc -l", server)
    #expect(again.outputText == "23\n1\n", "\(again.outputText) \(again.errorText)")
    let removed = try await Self.run("send -OJ --remove-on-error --max-filesize 1 URL/x; ls", server)
    #expect(removed.standardOutput.isEmpty, "\(removed.outputText)")
  }

  @Test func `the text of -w can have any bytes`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    for script in [
      "send -s -o /dev/null -w \"$(printf 'a\\351')\" URL", "printf 'a\\351' >f; send -o /dev/null -w @f URL",
    ] {
      #expect(try await Self.run(script, server).standardOutput == [0x61, 0xE9], "\(script)")
    }
  }

  @Test func `passwords of a netrc file and names in forms are sent byte by byte`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let script = """
      printf 'machine 127.0.0.1 login u password "p\\351"' >n; send --netrc-file n URL
      send -F "$(printf 'n\\351=1;filename=f\\351')" URL
      """
    #expect(try await Self.run(script, server).status == 0)
    let requests = server.requests
    let expected = "Basic " + String(decoding: Base64.encode(Array("u:p".utf8) + [0xE9]), as: UTF8.self)
    #expect(requests.first?.headers.first("authorization") == expected)
    let disposition = Array("name=\"n".utf8) + [0xE9] + Array("\"; filename=\"f".utf8) + [0xE9] + Array("\"".utf8)
    #expect(requests.last?.body.firstRange(of: disposition) != nil)
  }

  /// `jar` has the cookie `k=v`, and the server sets another one.
  @Test(arguments: [
    ("-b jar -b \"$X\"", "k=v; x="), ("-b jar -H \"Cookie: $X\"", "k=v; x="),
    ("-b jar -H 'Cookie: y=1' -H \"Cookie: $X\"", "k=v; y=1; x="), ("-b '' -b \"$X\" URL", "c=caf\u{E9}; x="),
    ("--cookie-jar new -H \"Cookie: $X\" URL", "c=caf\u{E9}; x="),
  ])
  func `cookies keep their bytes when those of a jar are added`(_ options: String, _ start: String) async throws {
    let server = try Self.server()
    defer { server.stop() }
    let script = """
      printf '127.0.0.1\\tFALSE\\t/\\tFALSE\\t0\\tk\\tv\\n' >jar; X=$(printf 'x=caf\\351')
      send \(options) URL
      """
    #expect(try await Self.run(script, server).status == 0)
    let sent = server.requests.last?.headers.filter { $0.isNamed("cookie") }.map(\.valueBytes)
    // Each character of the expected text stands for one byte.
    let expected = start.unicodeScalars.map { UInt8($0.value) } + Self.name
    #expect(sent == [expected], "\(server.requests.last?.headers ?? [])")
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `fields of HTTP/2 keep their bytes too`() async throws {
    var configuration = NginxConfiguration()
    configuration.bigFileBytes = 10
    configuration.extraDirectives =
      "location = /echo { add_header X-Name $http_x_in; add_header X-Cookie $http_cookie; return 200 \"ok\\n\"; }"
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    let script = """
      printf 'x-in: caf\\351' | \(Tool.path) send -i -w '%header{x-name}' -H @- --cacert \(certificates.authority) \
      \(nginx.secureBaseURL)/echo
      """
    let result = try await Command.run("sh", ["-c", script], environment: Tool.cleared)
    #expect(result.outputText.hasPrefix("HTTP/2 200"), "\(result.errorText)")
    #expect(result.standardOutput.suffix(4) == Self.name[...])
    #expect(result.standardOutput.dropLast(4).firstRange(of: Self.name) != nil)
    let folder = try TemporaryDirectory()
    let jar = try folder.write("localhost\tFALSE\t/\tFALSE\t0\tk\tv\n", to: "jar")
    let cookies = """
      \(Tool.path) send -s -o /dev/null -w '%header{x-cookie}' -b \(jar) -b "$(printf 'x=caf\\351')" \
      --cacert \(certificates.authority) \(nginx.secureBaseURL)/echo
      """
    let sent = try await Command.run("sh", ["-c", cookies], environment: Tool.cleared)
    #expect(sent.standardOutput == Array("k=v; x=".utf8) + Self.name, "\(sent.outputText) \(sent.errorText)")
    try await nginx.stop()
  }
}
