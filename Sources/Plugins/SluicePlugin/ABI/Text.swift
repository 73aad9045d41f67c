import CSluice

extension String {
  /// Copies borrowed bytes; invalid UTF-8 becomes U+FFFD.
  init(_ text: sluice_text) {
    self = String(decoding: text.bytes, as: UTF8.self)
  }
}

extension sluice_text {
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: data, count: size) }

  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(data: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), size: bytes.count)
  }
}

extension sluice_bytes {
  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(data: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), size: bytes.count)
  }
}

/// Lends a string as a text during the call.
func withText<Result>(_ string: String, _ body: (sluice_text) -> Result) -> Result {
  var string = string
  return string.withUTF8 { body(sluice_text(UnsafeRawBufferPointer($0))) }
}

extension Duration {
  init(nanoseconds: UInt64) {
    self = .nanoseconds(Int64(clamping: nanoseconds))
  }
}
