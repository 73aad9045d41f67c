import SluiceHTTP1
import SluiceMessages
import SluicePipeline
import SluiceTransport
import Testing

@testable import SluiceCurl

/// The limits of a response, which must not depend on the version of libcurl.
@Suite struct ResponseReaderTests {
  private let limits = MessageLimits(ResponseLimits())

  @Test func `the bytes of a head can reach the limit but not exceed it, and informational heads are counted apart`() {
    var reader = ResponseReader(limits)
    for line in ["HTTP/1.1 103 Early Hints\r\n", Self.line(byteCount: 200_000), "\r\n", "HTTP/1.1 200 OK\r\n"] {
      let refusal = reader.refusal(of: line)
      #expect(refusal == nil)
    }
    let filling = reader.refusal(of: Self.line(byteCount: limits.headBytes - 17))
    #expect(filling == nil)
    let end = reader.refusal(of: "\r\n")
    #expect(end == Self.excess("head of more than 262144 bytes", "maxHeadBytes"))
    #expect(!reader.isHeadDone)
  }

  @Test func `the number of informational responses is limited`() {
    var reader = ResponseReader(limits)
    let refusals = (0..<101).flatMap { _ in
      ["HTTP/1.1 103 Early Hints\r\n", "\r\n"].compactMap { reader.refusal(of: $0) }
    }
    #expect(refusals == [Self.excess("more than 100 informational responses", "maxInformationalResponses")])
  }

  @Test func `continuation lines count towards the limit of the head`() {
    var reader = ResponseReader(limits)
    _ = reader.refusal(of: "HTTP/1.1 200 OK\r\n")
    _ = reader.refusal(of: "X-A: one\r\n")
    let fold = " \(String(repeating: "v", count: 1021))\r\n"
    let refusals = (0..<300).compactMap { _ in reader.refusal(of: fold) }
    #expect(refusals.first == Self.excess("head of more than 262144 bytes", "maxHeadBytes"))
  }

  @Test func `the bytes of trailers can reach their own limit but not exceed it`() {
    var reader = ResponseReader(limits)
    _ = reader.refusal(of: "HTTP/1.1 200 OK\r\n")
    _ = reader.refusal(of: Self.line(byteCount: 200_000))
    let head = reader.refusal(of: "\r\n")
    #expect(head == nil && reader.isHeadDone)
    let filling = reader.refusal(of: Self.line(byteCount: limits.headBytes))
    #expect(filling == nil)
    let next = reader.refusal(of: "X: y\r\n")
    #expect(next == Self.excess("trailers of more than 262144 bytes", "maxHeadBytes"))
    #expect(reader.trailers.count == 1)
  }

  @Test func `the number of lines in a head and in trailers is limited`() {
    var reader = ResponseReader(limits)
    _ = reader.refusal(of: "HTTP/1.1 200 OK\r\n")
    let fields = (0..<limits.fields).compactMap { _ in reader.refusal(of: "a: b\r\n") }
    #expect(fields.isEmpty)
    let next = reader.refusal(of: "a: b\r\n")
    #expect(next == Self.excess("head with more than 4096 fields", "maxHeadFields"))
    let end = reader.refusal(of: "\r\n")
    #expect(end == nil && reader.isHeadDone)
    let trailers = (0...limits.fields).compactMap { _ in reader.refusal(of: "a: b\r\n") }
    #expect(trailers == [Self.excess("trailers with more than 4096 fields", "maxHeadFields")])
  }

  private static func excess(_ reason: String, _ key: String) -> String {
    "the response exceeds a limit: \(reason); if the server must send this, raise transport.\(key)"
  }

  /// Returns a field line of `byteCount` bytes, including its line end.
  private static func line(byteCount: Int) -> String {
    "X: \(String(repeating: "v", count: byteCount - 5))\r\n"
  }
}

extension ResponseReader {
  /// Reads a line. Returns the reason if it was refused, or nil if it was accepted.
  fileprivate mutating func refusal(of line: String) -> String? {
    let step = Array(line.utf8).withUnsafeBytes { take($0) }
    guard case .invalid(let reason) = step else { return nil }
    return reason
  }
}
