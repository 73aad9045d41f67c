import SluiceMessages
import Testing

/// The texts of messages, as `print` shows them.
@Suite struct MessageDescriptionTests {
  @Test func `the text of a message has neither headers nor a body, nor what a URL can hide`() {
    let request = Request(
      method: "POST", url: "https://user:pass@example.com:8443/a%20b?key=secret#part",
      headers: ["authorization": "Bearer secret"], body: .text("secret"))
    let response = Response(status: 404, headers: ["set-cookie": "secret"], body: .text("secret"))
    for text in ["\(request)", String(reflecting: request), "\([request])"] {
      #expect(
        text.contains("POST https://example.com:8443/a%20b") && !text.contains("secret") && !text.contains("pass"))
    }
    for text in ["\(response)", String(reflecting: response), "\([response])"] {
      #expect(text.contains("404 with 6 bytes") && !text.contains("secret"))
    }
  }
}
