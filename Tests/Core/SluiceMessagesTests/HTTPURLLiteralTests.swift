import SluiceMessages
import Testing

@Suite struct HTTPURLLiteralTests {
  @Test func `a literal is equal to the URL that is parsed from the same text`() throws {
    let literal: HTTPURL = "https://example.com/a?b"
    let text = "https://example.com/a?b"
    #expect(try literal == HTTPURL(text))
  }

  @Test func `a literal that is not a URL ends the process, and says why`() async throws {
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let url: HTTPURL = "ftp://example.com/"
        print(url)
      })
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    // A release build prints no message.
    #expect(text.isEmpty || text.contains("the literal \"ftp://example.com/\" is not a URL"), "\(text)")
  }
}
