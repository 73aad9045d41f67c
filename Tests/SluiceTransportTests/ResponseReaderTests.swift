import SluiceMessages
import Testing

@testable import SluiceCurl

/// The limits of a response, which must not depend on the version of libcurl.
@Suite struct ResponseReaderTests {
  @Test func `the bytes of a head, informational heads included, can reach the limit but not exceed it`() {
    var reader = ResponseReader()
    var left = ResponseReader.maximumHeadBytes
    for line in ["HTTP/1.1 103 Early Hints\r\n", "\r\n", "HTTP/1.1 200 OK\r\n"] {
      let refusal = reader.refusal(of: line)
      #expect(refusal == nil)
      left -= line.utf8.count
    }
    let filling = reader.refusal(of: Self.line(byteCount: left))
    #expect(filling == nil)
    let end = reader.refusal(of: "\r\n")
    #expect(end == "a head of more than 307200 bytes; only the server can fix it")
    #expect(!reader.isHeadDone)
  }

  @Test func `continuation lines count towards the limit of the head`() {
    var reader = ResponseReader()
    _ = reader.refusal(of: "HTTP/1.1 200 OK\r\n")
    _ = reader.refusal(of: "X-A: one\r\n")
    let fold = " \(String(repeating: "v", count: 1021))\r\n"
    let refusals = (0..<300).compactMap { _ in reader.refusal(of: fold) }
    #expect(refusals == ["a head of more than 307200 bytes; only the server can fix it"])
  }

  @Test func `the bytes of trailers can reach their own limit but not exceed it`() {
    var reader = ResponseReader()
    _ = reader.refusal(of: "HTTP/1.1 200 OK\r\n")
    _ = reader.refusal(of: Self.line(byteCount: 200_000))
    let head = reader.refusal(of: "\r\n")
    #expect(head == nil && reader.isHeadDone)
    let filling = reader.refusal(of: Self.line(byteCount: ResponseReader.maximumTrailerBytes))
    #expect(filling == nil)
    let next = reader.refusal(of: "X: y\r\n")
    #expect(next == "trailers of more than 262144 bytes; only the server can fix it")
    #expect(reader.trailers.count == 1)
  }

  @Test func `the number of lines in a head and in trailers is limited`() {
    var reader = ResponseReader()
    _ = reader.refusal(of: "HTTP/1.1 200 OK\r\n")
    let fields = (0..<ResponseReader.maximumFields).compactMap { _ in reader.refusal(of: "a: b\r\n") }
    #expect(fields.isEmpty)
    let next = reader.refusal(of: "a: b\r\n")
    #expect(next == "a head of more than 4096 fields; only the server can fix it")
    let end = reader.refusal(of: "\r\n")
    #expect(end == nil && reader.isHeadDone)
    let trailers = (0...ResponseReader.maximumFields).compactMap { _ in reader.refusal(of: "a: b\r\n") }
    #expect(trailers == ["trailers of more than 4096 fields; only the server can fix it"])
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
