/// The grammar of field names, methods and field values (RFC 9110 §5.1, §5.5, §9.1).
@usableFromInline
package enum FieldSyntax {
  /// Whether the bytes are a token: at least one character, none of them a delimiter, space or control.
  package static func isToken(_ bytes: Span<UInt8>) -> Bool {
    var index = 0
    while let word = bytes.word(at: index) {
      if !word.isLettersDigitsHyphens, !isToken(bytes, from: index, to: index + 8) { return false }
      index += 8
    }
    // The last eight bytes again, because that costs less than the rest byte by byte.
    if let word = bytes.word(at: bytes.count - 8), word.isLettersDigitsHyphens { return true }
    return !bytes.isEmpty && isToken(bytes, from: index, to: bytes.count)
  }

  private static func isToken(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Bool {
    for index in start..<end where !isTokenCharacter(bytes[index]) { return false }
    return true
  }

  /// Whether the bytes can be a field value: no CR, LF or NUL, no other control character except HTAB, no space at
  /// either end.
  package static func isFieldValue(_ bytes: Span<UInt8>) -> Bool {
    guard let last = bytes.indices.last else { return true }
    if isSpace(bytes[0]) || isSpace(bytes[last]) { return false }
    var index = 0
    while let word = bytes.word(at: index), !word.hasControl { index += 8 }
    if let word = bytes.word(at: bytes.count - 8), index > bytes.count - 8, !word.hasControl { return true }
    // The rest byte by byte: it is short, or it contains a tab or something that is not allowed.
    while index < bytes.count {
      let byte = bytes[index]
      if byte < 0x20, byte != 0x09 { return false }
      if byte == 0x7F { return false }
      index += 1
    }
    return true
  }

  /// Fields of one connection, and fields that frame a message, which a stage must not set (RFC 9110 §7.6.1, RFC 9112
  /// §6).
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

  /// Fields that the transport itself writes or leaves out, even if a caller sets them: fields of one connection, and
  /// `Content-Length`.
  package static func isTransportField(_ name: Span<UInt8>) -> Bool {
    name.count == 14 ? equals(name, "content-length") : isHopByHop(name)
  }

  /// Whether a field frames, routes or describes the message, and so cannot come after it (RFC 9110 §6.5.1).
  package static func isBarredFromTrailers(_ name: Span<UInt8>) -> Bool {
    isTransportField(name)
      || ["host", "content-encoding", "content-type", "content-range"].contains { equals(name, $0) }
  }

  /// Compares without case; `lowercase` must be ASCII in lower case.
  @inline(__always)
  package static func equals(_ bytes: Span<UInt8>, _ lowercase: String) -> Bool {
    bytes.count == lowercase.utf8.count && areEqual(bytes, lowercase.utf8.span)
  }

  /// Whether both are the same ASCII text in upper or lower case, and otherwise equal byte by byte.
  static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    // Compares from the end: the names in a message have the same beginning (`x-…`, `access-control-…`) more often than
    // the same end.
    var end = left.count
    while let ours = left.word(at: end - 8), let theirs = right.word(at: end - 8) {
      if ours != theirs, !ours.equalsIgnoringCase(theirs) { return false }
      end -= 8
    }
    while end > 0 {
      end -= 1
      if left[end] != right[end], left[end].asciiLowercased != right[end].asciiLowercased { return false }
    }
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

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
