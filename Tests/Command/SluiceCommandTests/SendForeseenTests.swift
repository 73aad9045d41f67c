import Glibc
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// What the arguments, the environment and the files show about a later request is found before the first is sent.
@Suite struct SendForeseenTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var arguments: [String]
    var status: Int32
    var message: String
    var environment: [String: String?] = [:]

    var testDescription: String { arguments.joined(separator: " ") }
  }

  /// Runs `send`. `URL` in an argument stands for the server, `TLS` for the same port with https, `DIR` for an empty
  /// folder, `TEXT` for a file that is not PEM, and `CERT`, `KEY` and `OTHER` for a certificate, its key and another key.
  private static func check(_ test: Case, _ command: [String] = ["send"]) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let text = try folder.write("no certificate\n", to: "text")
    let certificates = try await TestCertificates.shared()
    let words = test.arguments.map {
      $0.replacing("URL", with: server.baseURL).replacing("TLS", with: "https://127.0.0.1:\(server.port)/")
        .replacing("DIR", with: folder.path).replacing("TEXT", with: text)
        .replacing("CERT", with: certificates.client.certificate).replacing("KEY", with: certificates.client.key)
        .replacing("OTHER", with: certificates.clientRSA.key)
    }
    let result = try await Tool.run(arguments: command + words, environment: test.environment)
    #expect(server.requestCount == 0 && result.outputText.isEmpty, "\(result.outputText)")
    #expect(result.status == test.status, "\(result.status) \(result.errorText)")
    #expect(result.errorText.contains(test.message), "\(result.errorText)")
    #expect(FileTree.names(in: folder.path) == ["text"])
  }

  @Test(arguments: [
    Case(
      arguments: ["--proto", "-https", "URL/a", "TLS"], status: 1, message: "unsupported_scheme: \"https://127.0.0.1"),
    Case(arguments: ["--proto", "=https", "TLS", "URL/{a,b}"], status: 1, message: "http is not allowed by --proto"),
    Case(arguments: ["--proto", "", "URL/a"], status: 2, message: "--proto: the list is empty"),
    Case(arguments: ["--proto-redir", ",", "URL/a"], status: 2, message: "--proto-redir: the list is empty"),
    Case(arguments: ["--proto", "-htps", "URL/a"], status: 2, message: #"--proto: "-htps" is no scheme"#),
    Case(arguments: ["--proto", "=", "URL/a"], status: 2, message: #"--proto: "=" is no scheme"#),
    Case(arguments: ["--proto", "=https", "127.0.0.1:1/a"], status: 1, message: "http is not allowed by --proto"),
  ])
  func `a scheme that --proto excludes is refused for each URL`(_ test: Case) async throws {
    try await Self.check(test)
  }

  @Test(arguments: [
    Case(arguments: ["-E", "TEXT", "URL/a", "TLS"], status: 58, message: "--cert and --key must name a PEM"),
    Case(arguments: ["-E", "CERT", "--key", "OTHER", "URL/a", "TLS"], status: 58, message: "cannot use"),
    Case(
      arguments: ["-E", "CERT", "--key", "TEXT", "URL/a", "TLS"], status: 58, message: "--cert and --key must name"),
    Case(arguments: ["--cacert", "TEXT", "URL/a", "TLS"], status: 35, message: "--cacert must name a readable PEM"),
    Case(
      arguments: ["--ciphers", "nope", "URL/a", "TLS"], status: 35, message: #"cannot use "nope": no cipher match"#),
    Case(arguments: ["--tls13-ciphers", "nope", "URL/a", "TLS"], status: 35, message: #"cannot use "nope""#),
    Case(
      arguments: ["-x", "URL", "-E", "TEXT", "URL/a", "TLS"], status: 58, message: "--cert and --key must name a PEM"),
    Case(arguments: ["-0", "--ciphers", "nope", "URL/a", "TLS"], status: 35, message: "no cipher match"),
  ])
  func `files and ciphers for TLS that cannot be used are found`(_ test: Case) async throws {
    try await Self.check(test)
  }

  @Test(arguments: [
    Case(arguments: ["-4", "URL/a", "http://[::1]/"], status: 7, message: "::1 is not an IPv4 address"),
    Case(arguments: ["-6", "http://[::1]:1/", "URL/a"], status: 7, message: "127.0.0.1 is not an IPv6 address"),
    Case(
      arguments: ["-4", "--resolve", "h:80:::1", "URL/a", "http://h/"], status: 6,
      message: "the name has no IPv4 address"),
    Case(
      arguments: ["-4", "--connect-to", "h:80:[::1]:80", "URL/a", "http://h/"], status: 6, message: "no IPv4 address"),
    Case(
      arguments: ["URL/a", "TLS"], status: 7, message: "the URL of the proxy is not valid",
      environment: ["https_proxy": "bad proxy"]),
    Case(
      arguments: ["URL/a", "TLS"], status: 7, message: "the URL of the proxy has the scheme \"foo\"",
      environment: ["https_proxy": "foo://h"]),
    Case(arguments: ["-x", "foo://h", "URL/a", "URL/b"], status: 7, message: "has the scheme \"foo\""),
  ])
  func `a URL that the settings exclude is found`(_ test: Case) async throws { try await Self.check(test) }

  @Test(arguments: [
    ["-o", "DIR/o/1", "-o", "DIR/o/1/2", "URL/a", "URL/b"], ["-o", "DIR/o/1/2", "-o", "DIR/./o/1", "URL/a", "URL/b"],
    ["--har", "DIR/o", "-o", "DIR/o/1", "URL/a"], ["-o", "DIR/#1", "URL/{a,a/b,c}"],
  ])
  func `an output that would have to be a folder of another is found`(_ arguments: [String]) async throws {
    try await Self.check(
      Case(arguments: ["--create-dirs"] + arguments, status: 23, message: "is also the name of an output"))
  }

  @Test func `outputs beside each other, and settings that fit, are accepted`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let result = try await Tool.run(
      "send", "--proto", "=http", "-4", "--create-dirs", "-o", folder.path("o/1"), "-o", folder.path("o/12/3"),
      "\(server.baseURL)/a", "\(server.baseURL)/b", environment: ["https_proxy": "bad proxy"])
    #expect(result.status == 0 && server.requestCount == 2, "\(result.errorText)")
  }

  @Test func `the scheme of a redirect is checked before a connection is made`() async throws {
    let target = try ScriptedServer([])
    defer { target.stop() }
    let location = "https://127.0.0.1:\(target.port)/"
    let server = try LoopbackServer { _ in
      ServerResponse(status: 302, headers: [HeaderLine("Location", location)], body: .bytes(Array("moved".utf8)))
    }
    defer { server.stop() }
    for options in [["--proto", "=http"], ["--proto-redir", "=http"]] {
      let result = try await Tool.run(arguments: ["send"] + options + [server.baseURL])
      #expect(result.status == 1 && result.errorText.contains("unsupported_scheme"), "\(result.errorText)")
    }
    #expect(server.requestCount == 2 && target.connectionCount == 0)
  }

  @Test(arguments: [["run"], ["bench", "-n", "1"]])
  func `other commands find files for TLS that cannot be used before they send`(_ command: [String]) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let text = try folder.write("no certificate\n", to: "text")
    let file = try folder.write(
      #"{"transport": {"baseURL": "\#(server.baseURL)", "tls": {"ca": "\#(text)"}}}"#, to: "c.json")
    let operands = command[0] == "bench" ? ["/a"] : []
    let result = try await Tool.run(
      arguments: command + ["-c", file] + operands, input: #"{"url": "/a"}"# + "\n",
      environment: ["XDG_RUNTIME_DIR": folder.path, "XDG_STATE_HOME": folder.path])
    #expect(result.status == 2 && server.requestCount == 0, "\(result.status) \(result.errorText)")
    #expect((result.errorText + result.outputText).contains("transport.tls: cannot use \(text)"), "\(result.errorText)")
  }

  @Test func `a file for TLS can be a pipe, on several loops and with its key beside it`() async throws {
    guard NginxServer.isAvailable else { return }
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(certificates: certificates)
    let folder = try TemporaryDirectory()
    let (client, authority) = (certificates.client, certificates.authority)
    let file = try folder.write(
      #"{"transport": {"loops": 4, "tls": {"ca": "ca", "cert": "own"}}}"#, to: "c.json")
    let lines = (0..<40).map { _ in #"{"url": "\#(nginx.secureBaseURL)/json"}"# + "\n" }.joined()
    let script = """
      cd \(folder.path) && mkfifo ca own && (cat \(authority) >ca &) && (cat \(client.certificate) \(client.key) >own &)
      exec \(Tool.path) run -q -c \(file)
      """
    let result = try await Command.run(
      "sh", ["-c", script], environment: Tool.cleared, standardInput: Array(lines.utf8))
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try result.documents.compactMap(\.status) == [Int64](repeating: 200, count: 40))
    try await nginx.stop()
  }

  @Test(arguments: ["--cacert", "--cert"])
  func `a device without an end in place of a file for TLS is refused`(_ option: String) async throws {
    try await Self.check(
      Case(
        arguments: [option, "/dev/zero", "URL/a", "TLS"], status: 2,
        message: "\(option): cannot read /dev/zero: it is larger"))
  }

  @Test func `dev serves nothing while the files for TLS cannot be used`() async throws {
    let run = try await DevRun(
      configuration: { #"{"transport": {"baseURL": "\#($0)", "tls": {"ca": "c.json"}}}"# }, prepare: { _ in })
    let waiting = try await run.next("waiting")
    #expect("\(waiting)".contains("transport.tls: cannot use"), "\(waiting)")
    _ = try await run.end()
  }
}
