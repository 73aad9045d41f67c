import SluiceHTTP1
import SluiceMessages
import Testing

@Suite struct RequestFramingTests {
  private func body(
    _ lengths: [String], _ codings: [String] = [], version: HTTPVersion = .http11
  ) throws -> RequestFraming.Body {
    var framing = RequestFraming()
    for value in lengths { framing.takeContentLength(value.utf8.span) }
    for value in codings { framing.takeTransferEncoding(value.utf8.span) }
    return try framing.body(version: version)
  }

  private func reason(_ lengths: [String], _ codings: [String], version: HTTPVersion = .http11) -> String? {
    do {
      _ = try body(lengths, codings, version: version)
      return nil
    } catch { return (error as? FramingViolation)?.reason }
  }

  @Test(arguments: [
    ([], RequestFraming.Body.none), (["0"], .length(0)), (["5"], .length(5)), (["5, 5"], .length(5)),
    (["5", "5"], .length(5)), (["5", "05"], .length(5)),
  ])
  func `equal lengths count as one length, and without a length there is no body`(
    _ lengths: [String], _ expected: RequestFraming.Body
  ) throws {
    for version in [HTTPVersion.http10, .http11] { #expect(try body(lengths, version: version) == expected) }
  }

  @Test(arguments: [
    ["2", "5"], ["2, 5"], ["2x"], ["+2"], ["-2"], ["0x2"], ["2 5"], [""], ["5,"], ["5", ""],
    ["10000000000000000000002"],
  ])
  func `a length that is malformed or ambiguous is invalid`(_ lengths: [String]) {
    #expect(throws: FramingViolation.self) { try body(lengths) }
  }

  @Test(arguments: [
    (["chunked"], RequestFraming.Body.chunked), (["CHUNKED"], .chunked), (["gzip, chunked"], .codedChunks),
    (["gzip", "chunked"], .codedChunks),
  ])
  func `with chunked as the last coding, the chunks frame the body`(
    _ codings: [String], _ expected: RequestFraming.Body
  ) throws {
    #expect(try body([], codings) == expected)
  }

  @Test(arguments: [
    ([], ["gzip"], "last coding is not chunked"), ([], ["identity"], "last coding is not chunked"),
    ([], [""], "last coding is not chunked"), ([], ["xchunked"], "last coding is not chunked"),
    ([], ["chunked;q=1"], "last coding is not chunked"), ([], ["chunked, gzip"], "\"gzip\" after chunked"),
    ([], ["chunked", "identity"], "\"identity\" after chunked"), ([], ["chunked", "chunked"], "chunked twice"),
    (["5"], ["chunked"], "both a Content-Length and a Transfer-Encoding"),
    (["0"], ["gzip, chunked"], "both a Content-Length and a Transfer-Encoding"),
    (["2", "5"], [], "differ: 2 and 5"),
  ])
  func `the error says why framing is ambiguous`(_ lengths: [String], _ codings: [String], _ words: String) {
    #expect(reason(lengths, codings)?.contains(words) == true, "\(String(describing: reason(lengths, codings)))")
  }

  @Test func `a transfer coding is valid only in HTTP 1.1`() {
    #expect(reason([], ["chunked"], version: .http10)?.contains("HTTP/1.0") == true)
    #expect(reason([], ["chunked"], version: .http2)?.contains("only HTTP/1.1") == true)
    #expect(throws: Never.self) { try body(["5"], version: .http2) }
  }
}
