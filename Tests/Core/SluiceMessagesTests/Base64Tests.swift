import SluiceMessages
import Testing

struct Base64Tests {
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func `the examples of the standard are encoded and decoded`(plain: String, encoded: String) {
    #expect(Base64.encode(Array(plain.utf8)) == Array(encoded.utf8))
    #expect(Base64.decode(Array(encoded.utf8)) == Array(plain.utf8))
  }

  @Test(arguments: [
    "Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm 9", "Zm9v\n", "=Zg=", "Z===", "====", "Zm-_", "Zg==Zg==",
  ])
  func `any other form of Base64 is refused`(text: String) {
    #expect(Base64.decode(Array(text.utf8)) == nil)
  }

  @Test func `encoding and decoding return the same bytes at every length`() {
    let bytes = (0..<600).map { UInt8(truncatingIfNeeded: $0 &* 167) }
    for length in 0..<bytes.count {
      let part = Array(bytes.prefix(length))
      #expect(Base64.decode(Base64.encode(part)) == part)
    }
  }
}
