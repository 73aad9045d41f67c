import SluiceMessages

/// The content of a body as text: unchanged if it is UTF-8, otherwise in Base64.
struct ContentText {
  let text: String
  let isEncoded: Bool

  init(_ bytes: [UInt8]) {
    // A text with U+0000 is encoded too, because programs in C take U+0000 for the end of a text.
    let plain = bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    text = plain ?? String(decoding: Base64.encode(bytes), as: UTF8.self)
    isEncoded = plain == nil
  }
}
