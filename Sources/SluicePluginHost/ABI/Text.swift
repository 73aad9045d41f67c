import CSluice

extension sluice_text {
  /// The bytes; nil for a text that has a length but no address.
  @inline(__always)
  var bytes: UnsafeBufferPointer<UInt8>? {
    guard let data else { return size == 0 ? UnsafeBufferPointer(start: nil, count: 0) : nil }
    // A size beyond half of the address space arrives as a negative number.
    guard size >= 0 else { return nil }
    return UnsafeBufferPointer(start: UnsafeRawPointer(data).assumingMemoryBound(to: UInt8.self), count: size)
  }

  /// Lends bytes that outlive the text.
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
  /// The bytes; nil for a length without an address.
  var bytes: UnsafeBufferPointer<UInt8>? {
    guard let data else { return size == 0 ? UnsafeBufferPointer(start: nil, count: 0) : nil }
    // A size beyond half of the address space arrives as a negative number.
    return size >= 0 ? UnsafeBufferPointer(start: data, count: size) : nil
  }

  /// Lends bytes that outlive the value.
  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.init(data: bytes.baseAddress, size: bytes.count)
  }
}

extension String {
  /// Lends the text in UTF-8 during the call.
  func withText<Result>(_ body: (sluice_text) -> Result) -> Result {
    // Not `withUTF8`, which needs a mutable copy and so retains the text.
    utf8.span.withUnsafeBufferPointer { body(sluice_text($0)) }
  }
}

extension Optional<String> {
  func withText<Result>(_ body: (sluice_text) -> Result) -> Result {
    guard let self else { return body(.empty) }
    return self.withText(body)
  }
}
