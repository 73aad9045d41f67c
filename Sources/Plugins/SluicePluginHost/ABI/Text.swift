import CSluice

extension sluice_text {
  /// The bytes of the text. Nil if the text is malformed: it has a length but no address, or a negative length.
  @inline(__always)
  var bytes: UnsafeBufferPointer<UInt8>? {
    guard let data else { return size == 0 ? UnsafeBufferPointer(start: nil, count: 0) : nil }
    // Swift reads a `size_t` as an `Int`: a size of more than half of the address space is negative here.
    guard size >= 0 else { return nil }
    return UnsafeBufferPointer(start: UnsafeRawPointer(data).assumingMemoryBound(to: UInt8.self), count: size)
  }

  /// Makes a text that refers to these bytes. The bytes must stay valid as long as the text is used.
  @inline(__always)
  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.init(
      data: UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self), size: bytes.count)
  }

  static var empty: sluice_text { sluice_text() }

  /// The text, with U+FFFD for bytes that are not UTF-8; nil if it is malformed.
  var string: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

  /// A copy that is never freed, for tables that are never freed.
  static func immortal(_ text: String) -> sluice_text {
    let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
    _ = bytes.initialize(from: text.utf8)
    return sluice_text(UnsafeBufferPointer(bytes))
  }
}

extension sluice_bytes {
  /// The bytes. Nil if the value is malformed: it has a length but no address, or a negative length.
  var bytes: UnsafeBufferPointer<UInt8>? {
    guard let data else { return size == 0 ? UnsafeBufferPointer(start: nil, count: 0) : nil }
    // Swift reads a `size_t` as an `Int`: a size of more than half of the address space is negative here.
    return size >= 0 ? UnsafeBufferPointer(start: data, count: size) : nil
  }

  /// Makes a value that refers to these bytes. The bytes must stay valid as long as the value is used.
  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.init(data: bytes.baseAddress, size: bytes.count)
  }
}

extension String {
  /// Lends the text in UTF-8 during the call.
  func withText<Result>(_ body: (sluice_text) -> Result) -> Result {
    // `withUTF8` is not used, because it needs a mutable copy, which retains the text.
    utf8.span.withUnsafeBufferPointer { body(sluice_text($0)) }
  }
}

extension Optional<String> {
  func withText<Result>(_ body: (sluice_text) -> Result) -> Result {
    guard let self else { return body(.empty) }
    return self.withText(body)
  }
}
