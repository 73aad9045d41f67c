/// The grammar of field names, methods and field values (RFC 9110 §5.1, §5.5, §9.1).
@usableFromInline
package enum FieldSyntax {
  /// Whether the bytes are a token: at least one character, none of them a delimiter, space or control.
  package static func isToken(_ bytes: Span<UInt8>) -> Bool {
    guard let last = bytes.word(at: bytes.count - 8) else { return isShortToken(bytes) }
    var index = 0
    while index < bytes.count - 8, let word = bytes.word(at: index) {
      if !word.isLettersDigitsHyphens, !isToken(bytes, from: index, to: index + 8) { return false }
      index += 8
    }
    // Checks the last eight bytes, some of them twice: this costs less than checking the remaining bytes one by one.
    return last.isLettersDigitsHyphens || isToken(bytes, from: bytes.count - 8, to: bytes.count)
  }

  /// Checks a name or value of at most seven bytes.
  private static func isShortToken(_ bytes: Span<UInt8>) -> Bool {
    if let word = bytes.shortWord, word.isLettersDigitsHyphens { return true }
    return !bytes.isEmpty && isToken(bytes, from: 0, to: bytes.count)
  }

  private static func isToken(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Bool {
    for index in start..<end where !isTokenCharacter(bytes[index]) { return false }
    return true
  }

  /// Whether the bytes can be a field value: no CR, LF or NUL, no other control character except HTAB, no space at
  /// either end.
  package static func isFieldValue(_ bytes: Span<UInt8>) -> Bool {
    guard !bytes.isEmpty else { return true }
    if isSpace(bytes[0]) || isSpace(bytes[bytes.count - 1]) { return false }
    guard let last = bytes.word(at: bytes.count - 8) else { return isShortFieldValue(bytes) }
    var index = 0
    while index < bytes.count - 8, let word = bytes.word(at: index) {
      if word.hasControl, !isFieldValue(bytes, from: index, to: index + 8) { return false }
      index += 8
    }
    return !last.hasControl || isFieldValue(bytes, from: bytes.count - 8, to: bytes.count)
  }

  /// Checks a name or value of at most seven bytes.
  private static func isShortFieldValue(_ bytes: Span<UInt8>) -> Bool {
    if let word = bytes.shortWord, !word.hasControl { return true }
    return isFieldValue(bytes, from: 0, to: bytes.count)
  }

  private static func isFieldValue(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Bool {
    for index in start..<end where (bytes[index] < 0x20 && bytes[index] != 0x09) || bytes[index] == 0x7F {
      return false
    }
    return true
  }

  /// Whether a field belongs to one connection or frames a message; a stage must not set such a field (RFC 9110 §7.6.1,
  /// RFC 9112 §6).
  package static func isHopByHop(_ name: Span<UInt8>) -> Bool {
    switch name.count {
    case 2: equals(name, "te")
    case 7: equals(name, "trailer") || equals(name, "upgrade")
    case 10: equals(name, "connection") || equals(name, "keep-alive")
    case 16: equals(name, "proxy-connection")
    case 17: equals(name, "transfer-encoding")
    case 18: equals(name, "proxy-authenticate")
    case 19: equals(name, "proxy-authorization")
    default: false
    }
  }

  /// Whether the transport itself writes or leaves out the field, even if a caller sets it. These are the fields of one
  /// connection, and `Content-Length`.
  @inlinable @inline(__always)
  package static func isTransportField(_ name: Span<UInt8>) -> Bool {
    // Bit n is set if the name of one of these fields has n bytes.
    name.count < 20 && 0b1111_0100_0100_1000_0100 &>> name.count & 1 == 1 && isNamedTransportField(name)
  }

  @usableFromInline
  static func isNamedTransportField(_ name: Span<UInt8>) -> Bool {
    // This excludes `User-Agent` quickly: it is as long as `Connection`, and most requests have it.
    if name.count == 10, name[0] | 0x20 == UInt8(ascii: "u") { return false }
    return name.count == 14 ? equals(name, "content-length") : isHopByHop(name)
  }

  /// Whether the field asks for a part of the selected representation, or depends on its version: `Range` and the
  /// preconditions (RFC 9110 §13.1, §14.2).
  @inlinable @inline(__always)
  package static func selectsRepresentation(_ name: Span<UInt8>) -> Bool {
    // Bit n is set if the name of one of these fields has n bytes.
    name.count < 20 && 0b1010_0010_0001_0010_0000 &>> name.count & 1 == 1 && isNamedSelection(name)
  }

  @usableFromInline
  static func isNamedSelection(_ name: Span<UInt8>) -> Bool {
    switch name.count {
    case 5: equals(name, "range")
    case 8: equals(name, "if-match") || equals(name, "if-range")
    case 13: equals(name, "if-none-match")
    case 17: equals(name, "if-modified-since")
    default: equals(name, "if-unmodified-since")
    }
  }

  /// Whether a field must not be a trailer, because it frames, routes or describes the message (RFC 9110 §6.5.1).
  package static func isBarredFromTrailers(_ name: Span<UInt8>) -> Bool {
    isTransportField(name)
      || equals(name, "host") || equals(name, "content-encoding") || equals(name, "content-type")
      || equals(name, "content-range")
  }

  /// Compares case-insensitively; `lowercase` must be ASCII in lower case.
  @inlinable @inline(__always)
  package static func equals(_ bytes: Span<UInt8>, _ lowercase: StaticString) -> Bool {
    guard bytes.count == lowercase.utf8CodeUnitCount else { return false }
    // Safe because the bytes of a StaticString live as long as the process.
    let text = unsafe UnsafeBufferPointer(start: lowercase.utf8Start, count: lowercase.utf8CodeUnitCount)
    return areEqual(bytes, unsafe text.span)
  }

  /// Compares case-insensitively with a text that is made at run time; `lowercase` must be ASCII in lower case.
  package static func equals(_ bytes: Span<UInt8>, text lowercase: String) -> Bool {
    areEqual(bytes, lowercase.utf8.span)
  }

  /// Whether both are equal byte by byte, apart from upper and lower case of ASCII letters.
  @usableFromInline
  static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    guard left.count >= 8 else { return areEqualShort(left, right) }
    // Compares from the end: the names in a message share their beginning (`x-…`, `access-control-…`) more often than
    // their end.
    var start = left.count - 8
    while true {
      guard let ours = left.word(at: start), let theirs = right.word(at: start) else { return false }
      if ours != theirs, !ours.equalsIgnoringCase(theirs) { return false }
      if start == 0 { return true }
      start = max(0, start - 8)
    }
  }

  /// Both have the same length, at most seven bytes.
  private static func areEqualShort(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    if let ours = left.shortWord, let theirs = right.shortWord {
      return ours == theirs || ours.equalsIgnoringCase(theirs)
    }
    for index in left.indices where left[index].asciiLowercased != right[index].asciiLowercased { return false }
    return true
  }

  /// Letters, digits and !#$%&'*+-.^_`|~. Letters and the hyphen are tested first, because most names consist of them.
  @inlinable @inline(__always)
  package static func isTokenCharacter(_ byte: UInt8) -> Bool {
    if (byte | 0x20) &- 0x61 < 26 || byte == 0x2D { return true }
    return byte < 128 && (byte < 64 ? otherTokensBelow64 : otherTokensFrom64) &>> UInt64(byte & 63) & 1 == 1
  }

  /// One bit for each byte that is allowed in a token.
  @inlinable static var otherTokensBelow64: UInt64 { 0x03FF_6CFA_0000_0000 }
  @inlinable static var otherTokensFrom64: UInt64 { 0x57FF_FFFF_C7FF_FFFE }

  /// The value of decimal digits, such as those of a `Content-Length` (RFC 9110 §8.6). Nil for anything else, and for a value
  /// that does not fit into an `Int`.
  package static func number(_ digits: Span<UInt8>) -> Int? {
    guard !digits.isEmpty else { return nil }
    var number = 0
    for index in digits.indices {
      guard digits[index] >= 0x30, digits[index] <= 0x39 else { return nil }
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isStillTooLarge) = product.addingReportingOverflow(Int(digits[index] - 0x30))
      guard !isTooLarge, !isStillTooLarge else { return nil }
      number = sum
    }
    return number
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
