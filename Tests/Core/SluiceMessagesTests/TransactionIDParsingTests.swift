import SluiceMessages
import Testing

@Suite struct TransactionIDParsingTests {
  @Test func `an id is read back from its text`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<100 {
      let id = TransactionID(using: &random)
      #expect(TransactionID(id.description) == id)
    }
  }

  @Test(arguments: [
    "", "0123", "01234567-89ab-4def-8123-456789abcde", "01234567-89ab-4def-8123-456789abcdeg",
    "01234567-89AB-4DEF-8123-456789ABCDEF", "01234567-89ab-1def-8123-456789abcdef",
    "01234567-89ab-4def-0123-456789abcdef", "0123456789ab-4def-8123-456789abcdef-", "éééééééééééééééééé",
  ]) func `any other text is not an id`(_ text: String) {
    #expect(TransactionID(text) == nil)
  }
}
