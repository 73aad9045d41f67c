import SluiceMessages
import Testing

/// The trailers of a request, and the rules for them before it is sent.
struct RequestTrailerTests {
  @Test func `trailers keep their order, and a copy of the request has its own trailers`() throws {
    var request = try request()
    request.trailers.append("X-Sum", "1")
    let copy = request
    request.trailers.append("x-sum", "2")
    #expect(request.trailers == ["X-Sum": "1", "x-sum": "2"] && copy.trailers == ["X-Sum": "1"])
    request.trailers = [:]
    #expect(!request.hasTrailers && copy.hasTrailers)
  }

  @Test func `a request with trailers and a body is valid`() throws {
    for body in [Body.text("a"), .stream(BodyStream { _ in nil })] {
      try request(body, ["x-sum": "1", "ETag": "\"a\"", "x-empty": ""]).validate()
    }
  }

  @Test(arguments: [
    "Content-Length", "transfer-encoding", "HOST", "Trailer", "TE", "Connection", "content-type", "Content-Encoding",
    "content-range", "Keep-Alive", "Upgrade",
  ])
  func `a trailer that frames, routes or describes the message is refused, and the error names it`(
    _ name: String
  ) throws {
    let error = try refusal(of: request(trailers: ["x-a": "1", name: "1"]))
    #expect(error.code == .invalidHeader && error.subject == "trailer \"\(name)\"", "\(error)")
    #expect(error.reason.contains("set it as a header"), "\(error)")
  }

  @Test(arguments: ["a\r\nb: c", "a\nb", "a\u{0}", "a\r", " a"])
  func `a value that could end the line is refused`(_ value: String) throws {
    let error = try refusal(of: request(trailers: ["x-a": value]))
    #expect(error.code == .invalidHeader && error.subject == "trailer \"x-a\"", "\(error)")
  }

  @Test func `a name that is not a token is refused`() throws {
    #expect(try refusal(of: request(trailers: ["x a": "1"])).reason.contains("not a field name"))
  }

  @Test func `without a body, trailers are refused`() throws {
    for body in [Body.empty, .bytes([]), .stream(BodyStream(byteCount: 0) { _ in nil })] {
      let error = try refusal(of: request(body, ["x-a": "1"]))
      #expect(error.subject == "trailers" && error.reason.contains("has no body"), "\(error)")
    }
    var head = try request(trailers: ["x-a": "1"])
    head.method = "HEAD"
    #expect(try refusal(of: head).reason.contains("HEAD"))
  }

  private func refusal(of request: Request) throws -> MessageError {
    try #require(throws: MessageError.self) { try request.validate() }
  }

  private func request(_ body: Body = .text("a"), _ trailers: HeaderFields = [:]) throws -> Request {
    var request = Request(method: "PUT", url: HTTPURL("http://example.com/"), body: body)
    request.trailers = trailers
    return request
  }

  private func request(trailers: HeaderFields) throws -> Request { try request(.text("a"), trailers) }
}
