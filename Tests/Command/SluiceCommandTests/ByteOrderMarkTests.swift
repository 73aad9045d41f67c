import SluiceJSON
import SluiceServer
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// Text files that begin with a byte order mark, as some editors write them.
@Suite struct ByteOrderMarkTests {
  private static let mark = "\u{FEFF}"

  @Test(arguments: [
    ("X-A: 1\n", ["-H", "@FILE"]), ("header = \"X-A: 1\"\n", ["-K", "FILE"]), ("-H \"X-A: 1\"\n", ["-K", "FILE"]),
    ("machine 127.0.0.1 login u password p\n", ["--netrc-file", "FILE"]),
    ("127.0.0.1\tFALSE\t/\tFALSE\t0\tc\t1\n", ["-b", "FILE"]),
  ])
  func `the files that options of send name may begin with it`(_ text: String, _ options: [String]) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(Self.mark + text, to: "file")
    let result = try await Tool.run(
      arguments: ["send"] + options.map { $0.replacing("FILE", with: file) } + [server.baseURL])
    #expect(result.status == 0 && result.errorText.isEmpty, "\(result.errorText)")
    let headers = try #require(server.requests.first?.headers)
    let expected = [
      headers.first("x-a") == "1", headers.first("authorization") == "Basic dTpw", headers.first("cookie") == "c=1",
    ]
    #expect(expected.count { $0 } == 1, "\(headers)")
  }

  @Test func `a format of -w and a curl command may begin with it`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let format = try folder.write(Self.mark + "%{http_code}", to: "format")
    let result = try await Tool.run("send", "-o", "/dev/null", "-w", "@\(format)", server.baseURL)
    #expect(result.outputText == "200", "\(result.errorText)")
    let command = try await Tool.run(
      arguments: ["send", "--from-curl", "-"], input: "\(Self.mark)curl \(server.baseURL)\n")
    #expect(command.status == 0, "\(command.errorText)")
  }

  @Test func `the lines of run, its configuration and the file of a reference may begin with it`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    try folder.write("\(Self.mark)secret\n", to: "token")
    let text = #"""
      {"plugins": {"headers": {"builtin": "headers", "config": {"static": {"X-Token": {"file": "token"}}}}},
       "issue": ["headers"], "transport": {"baseURL": "\#(server.baseURL)"}}
      """#
    let configuration = try folder.write(Self.mark + text, to: "configuration.json")
    let line = #"{"url": "\#(server.baseURL)/"}"#
    let result = try await Tool.run(
      arguments: ["run", "-q", "-c", configuration], input: "\(Self.mark)\(line)\n\(line)\n")
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try result.documents.map(\.status) == [200, 200])
    #expect(server.requests.map { $0.headers.first("x-token") } == ["secret", "secret"], "\(result.errorText)")
  }

  @Test func `data of a request keeps it`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(Self.mark + "a", to: "file")
    for option in ["-d", "--data-binary", "--json"] {
      #expect(try await Tool.run("send", option, "@\(file)", server.baseURL).status == 0)
    }
    #expect(server.requests.map(\.body) == Array(repeating: [0xEF, 0xBB, 0xBF, 0x61], count: 3))
  }

  @Test(arguments: [
    (["run"], "{\u{200B}\"url\": 1}\n", #"\u{200B}"#),
    (["send", "--connect-to", "a\u{200B}", "http://h/"], "", #"\u{200B}"#),
    (["send", "-H", "X\u{200D}-A: 1", "http://127.0.0.1:9/"], "", #"\u{200D}"#),
    (["send", "-X", "GE\u{FEFF}T", "http://127.0.0.1:9/"], "", #"\u{FEFF}"#),
  ])
  func `a message shows an invisible character by its number`(
    _ arguments: [String], _ input: String, _ shown: String
  ) async throws {
    let result = try await Tool.run(arguments: arguments, input: input)
    let text = result.outputText.replacing("\\\\u", with: "\\u") + result.errorText
    #expect(result.status != 0 && text.contains(shown), "\(text)")
    #expect(!text.unicodeScalars.contains { [0x200B, 0x200D, 0xFEFF].contains($0.value) }, "\(text)")
  }
}
