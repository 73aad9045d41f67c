import SluiceMessages
import Testing

@testable import SluiceHTTP1

@Suite struct ChunkDecoderTests {
  private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

  private func reading(_ body: String) throws -> Reading {
    #expect(readings(Self.head + body).count == 1, "pieces change the result")
    return try read(Self.head + body, pieceSize: .max)
  }

  private func violation(_ body: String, _ limits: MessageLimits = MessageLimits()) -> MessageViolation? {
    let all = readings(Self.head + body, limits)
    #expect(all.count == 1, "pieces change the result: \(all)")
    guard case .failure(let violation) = all.first else { return nil }
    return violation
  }

  @Test(arguments: [
    ("0\r\n\r\n", ""), ("2\r\nhi\r\n0\r\n\r\n", "hi"), ("2\r\nhi\r\n3\r\n ho\r\n0\r\n\r\n", "hi ho"),
    ("00002\r\nhi\r\n000\r\n\r\n", "hi"), ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
    ("a\r\n0123456789\r\n0\r\n\r\n", "0123456789"), ("2;name=value\r\nhi\r\n0;x\r\n\r\n", "hi"),
    ("2 ;a\r\nhi\r\n0 \r\n\r\n", "hi"), ("2;a=\"b\"\r\nhi\r\n0\r\n\r\n", "hi"),
    ("4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n"),
  ])
  func `the data of chunks is delivered without the framing`(_ body: String, _ data: String) throws {
    let reading = try reading(body + "next")
    #expect(reading.body == data && reading.isComplete && reading.rest == "next" && reading.trailers.isEmpty)
  }

  @Test(arguments: [
    "\r\n", "x\r\n", "-1\r\n", "+2\r\nhi", "0x2\r\nhi", " 2\r\nhi", "2\nhi\r\n", "2\r\nhi\n0\r\n\r\n", "2\r\nhix\r\n",
    "2\r\nhi\rx", "2\rx", "2;a\nhi", "2;a\rb\r\nhi", "2;a\0\r\nhi", "2 x\r\nhi", "2x\r\nhi", "1000000000000000\r\n",
    "ffffffffffffffff\r\n", "2\r\nh\r\n0\r\n\r\n", "２\r\nhi",
  ])
  func `chunk framing that is malformed or ambiguous is refused`(_ body: String) {
    #expect(violation(body)?.kind == .invalid)
  }

  @Test(arguments: [
    ("0\r\nX-A: 1\r\n\r\n", ["X-A: 1"]), ("2\r\nhi\r\n0\r\nX-A: 1\r\nx-b:2\r\n\r\n", ["X-A: 1", "x-b: 2"]),
    ("0\r\nX-A: 1\r\n 2\r\n\r\n", ["X-A: 1 2"]), ("0\r\nX-A: 1\n\n", ["X-A: 1"]),
  ])
  func `trailers after the last chunk are read`(_ body: String, _ trailers: [String]) throws {
    let reading = try reading(body + "next")
    #expect(reading.trailers == trailers && reading.isComplete && reading.rest == "next")
  }

  @Test(arguments: [
    "0\r\nX-A 1\r\n\r\n", "0\r\n X: 1\r\n\r\n", "0\r\nX: a\0\r\n\r\n", "0\r\nX : a\r\n\r\n", "0\r\nX: a\rb\r\n\r\n",
  ])
  func `trailers that are not fields are refused`(_ body: String) { #expect(violation(body)?.kind == .invalid) }

  @Test(arguments: [
    "", "2", "2\r", "2\r\n", "2\r\nhi", "2\r\nhi\r\n", "2\r\nhi\r\n0\r\n", "2\r\nhi\r\n0\r\n\r", "0\r\nX: 1\r\n",
  ])
  func `a body without its end is not complete`(_ body: String) throws { #expect(try !reading(body).isComplete) }

  @Test func `a chunked body is accepted up to each limit, and fails with an error beyond it`() {
    var limits = MessageLimits()
    limits.chunkExtensionBytes = 10
    // The CR after an extension counts towards the limit.
    #expect(violation("1;aaaa\r\nx\r\n0;aaaa\r\n\r\n", limits) == nil)
    #expect(violation("1;aaaa\r\nx\r\n0;aaaaa\r\n\r\n", limits)?.reason == "chunk extensions of more than 10 bytes")
    limits = MessageLimits()
    limits.fields = 2
    #expect(violation("0\r\na: 1\r\nb: 2\r\n\r\n", limits) == nil)
    #expect(violation("0\r\na: 1\r\nb: 2\r\nc: 3\r\n\r\n", limits)?.reason == "trailers with more than 2 fields")
    limits = MessageLimits()
    limits.headBytes = 60
    #expect(violation("0\r\nX: " + String(repeating: "v", count: 100), limits)?.kind == .tooLong(.headBytes))
  }
}
