import SluiceMessages
import Testing

struct FieldSyntaxTests {
  /// The characters of a token (tchar in RFC 9110 §5.6.2).
  private static let tokenCharacters = Set(
    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)

  @Test(arguments: UInt8.min...UInt8.max)
  func `a token can contain exactly the characters of RFC 9110`(_ byte: UInt8) {
    let isAllowed = Self.tokenCharacters.contains(byte)
    #expect(isToken([byte]) == isAllowed)
    #expect(isToken([0x61, byte, 0x61]) == isAllowed)
  }

  @Test(arguments: UInt8.min...UInt8.max)
  func `a value can contain visible characters, spaces, tabs and bytes above 0x7F`(_ byte: UInt8) {
    let isVisible = (0x21...0x7E).contains(byte) || byte >= 0x80
    #expect(isFieldValue([byte]) == isVisible)
    #expect(isFieldValue([0x61, byte]) == isVisible)
    #expect(isFieldValue([byte, 0x61]) == isVisible)
    #expect(isFieldValue([0x61, byte, 0x61]) == (isVisible || byte == 0x20 || byte == 0x09))
  }

  /// The checks read eight or four bytes at a time. The last read can overlap the one before it.
  @Test(arguments: 1...25)
  func `each byte is checked at each place, in a text of any length`(_ count: Int) {
    for place in 0..<count {
      for byte in UInt8.min...UInt8.max {
        var text = [UInt8](repeating: 0x61, count: count)
        text[place] = byte
        let isToken = Self.tokenCharacters.contains(byte)
        let isValue = byte >= 0x20 && byte != 0x7F || byte == 0x09
        let isEnd = place == 0 || place == count - 1
        guard self.isToken(text) == isToken else { Issue.record("a token of \(text)"); continue }
        guard isFieldValue(text) == (isValue && !(isEnd && (byte == 0x20 || byte == 0x09))) else {
          Issue.record("a value of \(text)")
          continue
        }
        let isSame = byte == 0x61 || byte == 0x41
        if FieldSyntax.equals(text.span, text: String(repeating: "a", count: count)) != isSame {
          Issue.record("\(text) compared with the letter a")
        }
      }
    }
  }

  @Test func `a token has at least one character, but a value can be empty`() {
    #expect(!isToken([]))
    #expect(isFieldValue([]))
  }

  @Test(arguments: [
    "Connection", "keep-alive", "Proxy-Connection", "PROXY-AUTHENTICATE", "Proxy-Authorization", "TE", "Trailer",
    "transfer-encoding", "Upgrade",
  ])
  func `a connection-specific field is recognized in upper and lower case`(_ name: String) {
    #expect(isHopByHop(name) && isTransportField(name))
    #expect(isHopByHop(name.lowercased()))
    #expect(isHopByHop(name.uppercased()))
    #expect(!isHopByHop(name + "s"))
    #expect(!isHopByHop(String(name.dropLast())))
  }

  @Test(arguments: ["", "accept", "authorization", "trailing", "www-authenticate", "connectiom", "proxy-authentic"])
  func `a field that is not connection-specific can be set by stages`(_ name: String) {
    #expect(!isHopByHop(name) && !isTransportField(name))
  }

  @Test(arguments: ["Content-Length", "content-length", "CONTENT-LENGTH"])
  func `Content-Length is a field that only the transport sets`(_ name: String) {
    #expect(isTransportField(name) && !isHopByHop(name))
    #expect(!isTransportField(name + "s") && !isTransportField("x-" + name))
  }

  @Test(arguments: UInt8.min...UInt8.max)
  func `folding changes the 26 capital letters and nothing else`(_ byte: UInt8) {
    let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    #expect(byte.asciiLowercased == (isCapital ? byte + 32 : byte))
  }

  // A span cannot be an argument inside #expect.
  private func isToken(_ bytes: [UInt8]) -> Bool { FieldSyntax.isToken(bytes.span) }
  private func isFieldValue(_ bytes: [UInt8]) -> Bool { FieldSyntax.isFieldValue(bytes.span) }
  private func isHopByHop(_ name: String) -> Bool { FieldSyntax.isHopByHop(name.utf8.span) }
  private func isTransportField(_ name: String) -> Bool { FieldSyntax.isTransportField(name.utf8.span) }
}
