import SluiceJSON
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// Which content codings a request asks for, and what is decoded, over HTTP/1.1 and HTTP/2.
@Suite(.enabled(if: NginxServer.isAvailable)) struct SendCodingTests {
  /// A server with coded answers, and a folder for files.
  private struct Fixture {
    let nginx: NginxServer
    let folder: TemporaryDirectory
    /// A body in gzip, which the server sends as `x-gzip`.
    let archive: [UInt8]
    let url: String
    /// The options of `send` for the version.
    let options: [String]
    private let configuration: String

    init(isHTTP2: Bool) async throws {
      folder = try TemporaryDirectory()
      archive = EncodedBody.bytes(.gzip, Array("packed\n".utf8))
      let file = try folder.write(archive, to: "x.tar.gz")
      var configuration = NginxConfiguration()
      configuration.bigFileBytes = 1000
      configuration.accessLogFormat = "$request_method $uri $server_protocol [$http_accept_encoding]"
      configuration.extraDirectives = """
        location = /x.tar.gz { alias \(file); add_header Content-Encoding x-gzip; }
        location = /unknown { add_header Content-Encoding aws-chunked; return 200 "as it is\\n"; }
        location = /mixed { add_header Content-Encoding "gzip, compress"; return 200 "as it is\\n"; }
        """
      let certificates = try await TestCertificates.shared()
      nginx = try await NginxServer.start(configuration, certificates: certificates)
      url = isHTTP2 ? nginx.secureBaseURL : nginx.baseURL
      options = isHTTP2 ? ["--cacert", certificates.authority] : []
      self.configuration = try folder.write(
        #"{"transport": {"tls": {"ca": "\#(certificates.authority)"}}}"#, to: "configuration.json")
    }

    func send(_ arguments: String...) async throws -> CommandResult {
      try await Tool.run(
        arguments: ["send"] + options
          + arguments.map { $0.replacing("URL", with: url).replacing("DIR", with: folder.path) })
    }

    func run(_ lines: String...) async throws -> CommandResult {
      let input = lines.map { $0.replacing("URL", with: url) + "\n" }.joined()
      return try await Tool.run(arguments: ["run", "-q", "--concurrency", "1", "-c", configuration], input: input)
    }

    /// Stops the server. Returns the codings that each request asked for, `-` for none.
    func codings() async throws -> [String] {
      try await nginx.stop()
      return nginx.accessLog.map { line in
        let words = line.split(separator: "[")
        return words.count > 1 ? String(words[1].dropLast()) : line
      }
    }
  }

  private static let ours = "deflate, gzip, br, zstd"

  @Test(arguments: [false, true])
  func `no coding is asked for beside a range, a precondition or HEAD`(isHTTP2: Bool) async throws {
    let fixture = try await Fixture(isHTTP2: isHTTP2)
    let part = try await fixture.send("-r", "0-9", "URL/gzip")
    #expect(part.status == 0 && part.outputText == "sixteen le", "\(part.outputText.count) \(part.errorText)")
    let head = try await fixture.send("-I", "URL/gzip")
    #expect(head.outputText.lowercased().contains("content-length: 65536"), "\(head.outputText)")
    for field in ["If-None-Match: \"a\"", "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT", "If-Match: *"] {
      #expect(try await fixture.send("-H", field, "URL/gzip").status == 0, "\(field)")
    }
    _ = try await fixture.send("-H", "If-Unmodified-Since: Sat, 01 Jan 2050 00:00:00 GMT", "URL/gzip")
    _ = try await fixture.send("-H", "Range: bytes=0-9", "-H", "If-Range: \"a\"", "URL/gzip")
    #expect(try await fixture.codings() == Array(repeating: "-", count: 7))
  }

  @Test(arguments: [false, true])
  func `a coding that the user asks for is sent in every request`(isHTTP2: Bool) async throws {
    let fixture = try await Fixture(isHTTP2: isHTTP2)
    _ = try await fixture.send("URL/gzip")
    _ = try await fixture.send("-I", "--compressed", "URL/gzip")
    _ = try await fixture.send("-r", "0-9", "-H", "Accept-Encoding: br", "URL/")
    _ = try await fixture.send("-o", "DIR/out", "--compressed", "URL/gzip")
    #expect(try FileTree.readText(fixture.folder.path("out")).hasPrefix("sixteen letters\n"))
    #expect(try await fixture.codings() == [Self.ours, Self.ours, "br", Self.ours])
  }

  @Test(arguments: [false, true])
  func `a file gets what the server sent, and standard output the decoded body`(isHTTP2: Bool) async throws {
    let fixture = try await Fixture(isHTTP2: isHTTP2)
    #expect(try await fixture.send("-o", "DIR/b", "URL/x.tar.gz").status == 0)
    #expect(try FileTree.read(fixture.folder.path("b")) == fixture.archive)
    #expect(try await fixture.send("-OJ", "--output-dir", "DIR/o", "--create-dirs", "URL/x.tar.gz").status == 0)
    #expect(try FileTree.read(fixture.folder.path("o/x.tar.gz")) == fixture.archive)
    try fixture.folder.write(Array(fixture.archive.prefix(5)), to: "c")
    #expect(try await fixture.send("-C", "-", "-o", "DIR/c", "URL/x.tar.gz").status == 0)
    #expect(try FileTree.read(fixture.folder.path("c")) == fixture.archive)
    #expect(try await fixture.send("URL/x.tar.gz").outputText == "packed\n")
    #expect(try await fixture.send("-o", "-", "URL/x.tar.gz").outputText == "packed\n")
    #expect(try await fixture.send("-o", "DIR/d", "URL/gzip").status == 0)
    #expect(try FileTree.readText(fixture.folder.path("d")).hasPrefix("sixteen letters\n"))
    #expect(try await fixture.codings() == ["-", "-", "-", Self.ours, Self.ours, "-"])
  }

  @Test(arguments: [false, true])
  func `a body with an unknown coding, and a part of a coded body, stay as they are`(isHTTP2: Bool) async throws {
    let fixture = try await Fixture(isHTTP2: isHTTP2)
    for path in ["unknown", "mixed"] {
      let result = try await fixture.send("URL/\(path)")
      #expect(result.status == 0 && result.outputText == "as it is\n", "\(result.errorText)")
    }
    let part = try await fixture.send("-r", "0-9", "URL/x.tar.gz")
    #expect(part.status == 0 && part.standardOutput == Array(fixture.archive.prefix(10)), "\(part.errorText)")
    try await fixture.nginx.stop()
  }

  @Test(arguments: [false, true])
  func `run has the same rules for codings as send`(isHTTP2: Bool) async throws {
    let fixture = try await Fixture(isHTTP2: isHTTP2)
    let documents = try await fixture.run(
      #"{"url": "URL/gzip"}"#, #"{"url": "URL/gzip", "method": "HEAD"}"#,
      #"{"url": "URL/gzip", "headers": {"Range": "bytes=0-9"}}"#,
      #"{"url": "URL/gzip", "headers": {"if-none-match": "\"a\""}}"#, #"{"url": "URL/unknown"}"#
    ).documents
    #expect(documents.map(\.status) == [200, 200, 206, 200, 200])
    #expect(documents[2]["response"]?["body"]?["text"]?.string == "sixteen le")
    #expect(documents[4]["response"]?["body"]?["text"]?.string == "as it is\n")
    #expect(try await fixture.codings() == [Self.ours, "-", "-", "-", Self.ours])
  }
}
