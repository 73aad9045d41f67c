import CEnvoy

extension sluice_envoy_text {
  /// The bytes, borrowed like the text itself.
  var buffer: UnsafeBufferPointer<UInt8> {
    UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : length).bindMemory(to: UInt8.self)
  }

  /// The text as a string, with U+FFFD for bytes that are not UTF-8.
  var string: String { String(decoding: buffer, as: UTF8.self) }

  /// A part of the text.
  func part(_ range: Range<Int>) -> sluice_envoy_text {
    sluice_envoy_text(bytes: bytes.map { $0 + range.lowerBound }, length: range.count)
  }
}

extension Span<UInt8> {
  /// Calls the function with these bytes, which it may use until it returns.
  func withText<Result>(_ body: (sluice_envoy_text) -> Result) -> Result {
    withUnsafeBytes { bytes in
      // An empty text has an address too, because Envoy takes a missing one for a removal.
      guard let start = bytes.baseAddress else { return withoutBytes(body) }
      return body(sluice_envoy_text(bytes: start.assumingMemoryBound(to: CChar.self), length: bytes.count))
    }
  }

  private func withoutBytes<Result>(_ body: (sluice_envoy_text) -> Result) -> Result {
    var byte: CChar = 0
    return withUnsafePointer(to: &byte) { body(sluice_envoy_text(bytes: $0, length: 0)) }
  }
}

extension StaticString {
  func withText<Result>(_ body: (sluice_envoy_text) -> Result) -> Result {
    withUTF8Buffer { bytes in
      body(
        sluice_envoy_text(
          bytes: UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self), length: bytes.count))
    }
  }
}
