import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestPipeline
import SluiceTestServers
import Testing

/// Trailers of requests on the wire.
@Suite struct RequestTrailerTests {
  enum Kind: CaseIterable { case memory, file, stream }

  private let folder: TemporaryDirectory
  private let ok = ScriptStep.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

  init() throws { folder = try TemporaryDirectory() }

  private func request(
    _ url: String, _ kind: Kind = .memory, _ headers: HeaderFields = [:], trailers: HeaderFields
  ) throws -> Request {
    let body: Body =
      switch kind {
      case .memory: .text("body")
      case .file: .file(FileBody(path: try folder.write("body", to: "body"), byteCount: 4))
      case .stream: .stream(PieceStream.make([Array("body".utf8)]))
      }
    var request = Request(method: "PUT", url: try HTTPURL(url), headers: headers, body: body)
    request.trailers = trailers
    return request
  }

  @Test(arguments: Kind.allCases)
  func `trailers follow the last chunk, and the head announces each name once`(_ kind: Kind) async throws {
    let rest = "4\r\nbody\r\n0\r\nX-Sum: 1\r\nx-sum: 2\r\nx-empty:\r\n\r\n"
    let server = try ScriptedServer(.receiveHead, .receive(rest.utf8.count), ok)
    let record = try await Wire().send(
      request(server.baseURL, kind, trailers: ["X-Sum": "1", "x-sum": "2", "x-empty": ""]))
    #expect(record.bodyText == "ok", "\(String(describing: record.error))")
    let sent = try #require(server.receivedText.first)
    #expect(sent.hasSuffix("\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum, x-empty\r\n\r\n" + rest), "\(sent)")
    #expect(!sent.contains("Content-Length"))
    #expect(record.timings.bytesSent == sent.utf8.count)
  }

  @Test func `if a request has trailers, the caller's framing headers are not sent`() async throws {
    let server = try LoopbackServer()
    let record = try await Wire().send(
      request(
        server.baseURL, .memory, ["content-length": "4", "Trailer": "x-other", "transfer-encoding": "gzip"],
        trailers: ["x-sum": "1"]))
    #expect(record.error == nil)
    let sent = try #require(server.requests.first)
    #expect(sent.headers.first("Content-Length") == nil && sent.headers.first("Trailer") == "x-sum")
    #expect(sent.headers.first("Transfer-Encoding") == "chunked")
    #expect(sent.trailers.map(\.name) == ["x-sum"] && sent.body == Array("body".utf8))
  }

  @Test func `the connection is reused after requests with and without trailers`() async throws {
    let server = try LoopbackServer()
    let wire = try Wire()
    for trailers: HeaderFields in [["x-a": "1"], [:], ["x-a": "2"]] {
      let record = try await wire.send(request(server.baseURL, trailers: trailers))
      #expect(record.error == nil)
    }
    #expect(server.requests.map { $0.trailers.first?.value } == ["1", nil, "2"])
    #expect(server.requests.map { $0.headers.first("Content-Length") } == [nil, "4", nil])
    #expect(Set(server.requests.map(\.peer)).count == 1)
  }

  @Test func `a large number of trailers is sent completely`() async throws {
    var trailers = HeaderFields()
    for number in 0..<20_000 { trailers.append("x-\(number)", String(repeating: "v", count: 100)) }
    let server = try ScriptedServer(.receiveHead, .receive(4 + 5 + 3 + trailers.wireByteCount + 2), ok)
    let record = try await Wire().send(request(server.baseURL, .stream, trailers: trailers))
    #expect(record.bodyText == "ok", "\(String(describing: record.error))")
    #expect(server.receivedText.first?.contains("\r\nx-19999: vvv") == true)
  }

  @Test(arguments: Kind.allCases)
  func `body and trailers are sent only after a 100 response`(_ kind: Kind) async throws {
    let rest = "4\r\nbody\r\n0\r\nx-sum: 1\r\n\r\n"
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .receive(rest.utf8.count), ok)
    let record = try await Wire().send(
      request(server.baseURL, kind, ["Expect": "100-continue"], trailers: ["x-sum": "1"]))
    #expect(record.bodyText == "ok" && record.informational == [100], "\(String(describing: record.error))")
    #expect(server.receivedText.first?.hasSuffix("\r\n\r\n" + rest) == true)
  }

  @Test(arguments: Kind.allCases)
  func `a server that refuses the body with 417 gets no trailers either`(_ kind: Kind) async throws {
    let server = try ScriptedServer([
      [.receiveHead, .send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno"), .receiveToEnd],
      ScriptStep.respond(body: "next"),
    ])
    let wire = try Wire()
    let record = try await wire.send(
      request(server.baseURL, kind, ["Expect": "100-continue"], trailers: ["x-sum": "1"]))
    #expect(record.head?.status == 417)
    #expect(try await wire.get(server.baseURL).bodyText == "next")
    #expect(server.receivedText.first?.contains("x-sum: 1") == false)
  }

  @Test func `if a response comes before the end of the request body, it is complete, and no trailer is sent`()
    async throws
  {
    let server = try ScriptedServer([
      [.receiveHead, .send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig"), .receiveToEnd],
      ScriptStep.respond(body: "next"),
    ])
    let wire = try Wire()
    let bytes = [UInt8](repeating: 65, count: 4096)
    var request = try request(server.baseURL, trailers: ["x-sum": "1"])
    request.body = .stream(BodyStream { Array(bytes.prefix($0)) })
    let record = try await wire.send(request)
    #expect(record.head?.status == 413 && record.bodyText == "big", "\(String(describing: record.error))")
    #expect(try await wire.get(server.baseURL).bodyText == "next")
    #expect(server.receivedText.first?.contains("x-sum: 1") == false)
  }

  @Test func `the trailers that a stream gives at its end replace the request's trailers`() async throws {
    let rest = "4\r\nbody\r\n0\r\nx-last: 2\r\n\r\n"
    let server = try ScriptedServer(.receiveHead, .receive(rest.utf8.count), ok)
    var request = try request(server.baseURL, trailers: ["x-first": "1"])
    let pieces = PieceStream.make([Array("body".utf8)])
    request.body = .stream(BodyStream(trailers: { ["x-last": "2"] }, read: { try pieces.read($0) }))
    let record = try await Wire().send(request)
    #expect(record.bodyText == "ok", "\(String(describing: record.error))")
    #expect(server.receivedText.first?.hasSuffix("Trailer: x-first\r\n\r\n" + rest) == true)
  }
}
