import SluiceMessages
import SluicePipeline
import SluiceTestServers
import Testing

/// The headers that the transport adds to each request: Accept, Accept-Encoding and User-Agent.
@Suite struct DefaultFieldTests {
  private static let codings = "Accept-Encoding: deflate, gzip, br, zstd\r\n"

  /// Sends the requests over one connection. Returns the text of each request as the server received it, without the
  /// request line and Host.
  private static func send(_ requests: [(HeaderFields, DefaultFields)]) async throws -> [String] {
    let server = try ScriptedServer([requests.flatMap { _ in ScriptStep.respond() }])
    defer { server.stop() }
    var settings = TransportSettings.patient
    settings.userAgent = "test/1"
    let wire = try Wire(settings)
    for (headers, omitted) in requests {
      var request = Request(url: try HTTPURL(server.baseURL), headers: headers)
      request.omittedDefaults = omitted
      _ = try await wire.send(request)
    }
    let start = "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
    let sent = try #require(server.receivedText.first)
    return sent.split(separator: start, omittingEmptySubsequences: true).map(String.init)
  }

  @Test func `a request without headers gets all default headers, and one that omits them gets none`() async throws {
    let sent = try await Self.send([([:], []), ([:], [.accept, .acceptEncoding, .userAgent]), ([:], [])])
    let all = "Accept: */*\r\n\(Self.codings)User-Agent: test/1\r\n\r\n"
    #expect(sent == [all, "\r\n", all])
  }

  @Test func `each default header can be omitted separately`() async throws {
    let sent = try await Self.send([(["X-A": "1"], .accept), ([:], .acceptEncoding), (["X-A": "1"], .userAgent)])
    #expect(
      sent == [
        "\(Self.codings)User-Agent: test/1\r\nX-A: 1\r\n\r\n", "Accept: */*\r\nUser-Agent: test/1\r\n\r\n",
        "Accept: */*\r\n\(Self.codings)X-A: 1\r\n\r\n",
      ])
  }

  @Test func `a request's own header replaces the default, and is sent even if the default is omitted`() async throws {
    let own: HeaderFields = ["accept": "a/b", "Accept-Encoding": "gzip", "user-agent": "mine"]
    let lines = "accept: a/b\r\nAccept-Encoding: gzip\r\nuser-agent: mine\r\n\r\n"
    #expect(try await Self.send([(own, []), (own, [.accept, .acceptEncoding, .userAgent])]) == [lines, lines])
    #expect(try await Self.send([(["User-Agent": ""], .acceptEncoding)]) == ["Accept: */*\r\nUser-Agent:\r\n\r\n"])
  }

  @Test func `an issue stage can set a default header that the request omits`() async throws {
    let server = try ScriptedServer([ScriptStep.respond()])
    var settings = TransportSettings.patient
    settings.userAgent = "test/1"
    var request = Request(url: try HTTPURL(server.baseURL))
    request.omittedDefaults = [.accept, .userAgent]
    let probe = Probe()
    probe.onIssue = { headers in
      headers["User-Agent"] = "stage"
      return true
    }
    _ = try await Wire(settings).send(request, probe)
    let sent = try #require(server.receivedText.first)
    #expect(sent.contains("\r\nUser-Agent: stage\r\n"))
    #expect(!sent.contains("test/1") && !sent.contains("Accept:"))
  }

  @Test func `a user agent that is not a valid header value is refused at the start`() throws {
    var settings = TransportSettings()
    settings.userAgent = "a\r\nX-Injected: 1"
    let error = #expect(throws: TransportError.self) { try Wire(settings) }
    #expect(error?.message.hasPrefix("transport.userAgent: its value holds CR, LF") == true)
  }
}
