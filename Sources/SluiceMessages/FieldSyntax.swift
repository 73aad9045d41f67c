/// The grammar of field names, methods and field values (RFC 9110 §5.1, §5.5, §9.1).
public enum FieldSyntax {
  /// Whether the bytes are a token: at least one character, none of them a delimiter, space or control.
  public static func isToken(_ bytes: Span<UInt8>) -> Bool {
    guard !bytes.isEmpty else { return false }
    for index in bytes.indices where !isTokenCharacter(bytes[index]) { return false }
    return true
  }

  /// Whether the bytes can be a field value: no CR, LF or NUL, no other control character except HTAB, no space at
  /// either end.
  public static func isFieldValue(_ bytes: Span<UInt8>) -> Bool {
    guard let last = bytes.indices.last else { return true }
    if isSpace(bytes[0]) || isSpace(bytes[last]) { return false }
    for index in bytes.indices {
      let byte = bytes[index]
      if byte < 0x20, byte != 0x09 { return false }
      if byte == 0x7F { return false }
    }
    return true
  }

  /// Fields of one connection, and fields that frame a message, which a stage must not set (RFC 9110 §7.6.1, RFC 9112
  /// §6).
  public static func isHopByHop(_ name: Span<UInt8>) -> Bool {
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
  public static func equals(_ bytes: Span<UInt8>, _ lowercase: String) -> Bool {
    let text = lowercase.utf8.span
    guard bytes.count == text.count else { return false }
    for index in bytes.indices where bytes[index].asciiLowercased != text[index] { return false }
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
