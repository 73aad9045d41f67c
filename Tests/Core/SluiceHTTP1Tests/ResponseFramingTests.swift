import SluiceMessages
import Testing

@testable import SluiceHTTP1

@Suite struct ResponseFramingTests {
  private func framing(lengths: [String] = [], codings: [String] = []) -> ResponseFraming {
    var framing = ResponseFraming()
    for value in lengths { framing.takeContentLength(value.utf8.span) }
    for value in codings { framing.takeTransferEncoding(value.utf8.span) }
    return framing
  }

  private func body(
    _ lengths: [String] = [], _ codings: [String] = [], status: Int = 200, version: HTTPVersion = .http11,
    isAnswerToHead: Bool = false
  ) throws -> ResponseFraming.Body {
    var framing = framing(lengths: lengths, codings: codings)
    return try framing.body(status: status, version: version, isAnswerToHead: isAnswerToHead)
  }

  @Test(arguments: [
    (["0"], ResponseFraming.Body.length(0)), (["5"], .length(5)), (["007"], .length(7)), (["5, 5"], .length(5)),
    (["5", "5"], .length(5)), (["5 ,\t5"], .length(5)), (["5", "05"], .length(5)),
    (["9223372036854775807"], .length(.max)), ([], .close),
  ])
  func `equal lengths count as one length`(_ lengths: [String], _ expected: ResponseFraming.Body) throws {
    #expect(try body(lengths) == expected)
  }

  @Test(arguments: [
    ["2", "5"], ["2, 5"], ["2x"], ["+2"], ["-2"], ["0x2"], ["2 5"], [""], ["5,"], [",5"], ["5", ""], ["1.0"],
    ["9223372036854775808"], ["18446744073709551618"], ["10000000000000000000005"], ["٥"], ["five"],
  ])
  func `a length that is malformed or ambiguous is invalid`(_ lengths: [String]) {
    #expect(throws: FramingViolation.self) { try body(lengths) }
  }

  @Test(arguments: [
    (["chunked"], ResponseFraming.Body.chunked), (["Chunked"], .chunked), (["gzip, chunked"], .chunked),
    (["gzip", "chunked"], .chunked), (["gzip"], .close),
  ])
  func `the last transfer coding decides what ends the body`(
    _ codings: [String], _ expected: ResponseFraming.Body
  ) throws {
    #expect(try body([], codings) == expected)
  }

  @Test(arguments: [
    ["chunked, chunked"], ["chunked", "chunked"], ["chunked, gzip"], ["chunked", "gzip"], ["chunked,"],
  ])
  func `chunked must be the last coding, and must occur only once`(_ codings: [String]) {
    #expect(throws: FramingViolation.self) { try body([], codings) }
  }

  @Test(arguments: [["identity"], ["Identity", "identity"], ["identity, identity"]])
  func `a transfer coding called identity is none`(_ codings: [String]) throws {
    #expect(try body(["5"], codings) == .length(5))
    #expect(try body([], codings) == .close)
  }

  @Test(arguments: ["chunked", "gzip", "identity, chunked", "identity, gzip", "gzip, identity", "chunked, identity"])
  func `a response with both a length and a transfer coding is invalid`(_ coding: String) {
    #expect(throws: FramingViolation.self) { try body(["5"], [coding]) }
  }

  @Test func `HTTP 2 allows no transfer codings, and the end of the stream ends the body`() throws {
    #expect(try body(version: .http2) == .stream)
    #expect(try body(["5"], version: .http2) == .length(5))
    #expect(throws: FramingViolation.self) { try body([], ["chunked"], version: .http2) }
    #expect(throws: FramingViolation.self) { try body(["2", "5"], version: .http2) }
  }

  @Test(arguments: [([], []), (["5"], []), (["2", "5"], []), (["x"], ["chunked, chunked"]), ([], ["chunked"])])
  func `a response whose status or method allows no body has none, even with framing fields`(
    _ lengths: [String], _ codings: [String]
  ) throws {
    for status in [100, 103, 204, 304] { #expect(try body(lengths, codings, status: status) == .none) }
    #expect(try body(lengths, codings, isAnswerToHead: true) == .none)
  }

  @Test func `a response with a transfer coding in HTTP 1.0 closes the connection`() {
    #expect(framing(codings: ["chunked"]).mustClose(version: .http10))
    #expect(!framing(codings: ["chunked"]).mustClose(version: .http11))
    #expect(!framing(lengths: ["5"]).mustClose(version: .http10))
  }

  @Test func `the error's reason quotes the value, shortened to one line`() {
    #expect {
      _ = try body([String(repeating: "x\n", count: 1000)])
    } throws: { error in
      let reason = (error as? FramingViolation)?.reason ?? ""
      return reason.hasPrefix("a Content-Length that is not a number of bytes: \"x") && reason.utf8.count < 140
        && !reason.contains("\n")
    }
  }
}
