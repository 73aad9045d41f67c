import SluiceMessages

/// The value of a `tracestate` header, which is checked and passed on unchanged (W3C Trace Context level 2 §2.3).
public enum TraceState {
  /// The maximum number of members. A state with more members is not passed on at all.
  public static let maximumMembers = 32

  /// The part of the text to pass on: the whole text except blanks at its ends.
  ///
  /// Returns nil if there is no member, or if one member is invalid. Repeated keys are not checked, because only the
  /// owner of a key may correct them.
  public static func content(_ text: Span<UInt8>) -> Range<Int>? {
    var position = 0
    var members = 0
    while true {
      ListSyntax.skipBlanks(text, &position)
      if position < text.count, text[position] != UInt8(ascii: ",") {
        members += 1
        guard members <= maximumMembers, skipMember(text, &position) else { return nil }
      }
      if position == text.count { break }
      position += 1
    }
    return members == 0 ? nil : ListSyntax.trimmed(text, 0..<text.count)
  }

  /// The part of a text that is passed on; nil if no part is.
  static func valid(_ text: String) -> String? {
    guard let content = content(text.utf8.span) else { return nil }
    return content.count == text.utf8.count ? text : String(copying: text.utf8.span.extracting(content))
  }

  /// Whether the text has only blanks and commas.
  static func isEmpty(_ text: Span<UInt8>) -> Bool {
    for index in text.indices where text[index] != UInt8(ascii: ",") && !ListSyntax.isBlank(text[index]) {
      return false
    }
    return true
  }

  /// The range of the value of the first member with that key.
  static func value(of key: String, in text: Span<UInt8>) -> Range<Int>? {
    let key = key.utf8.span
    var position = 0
    while let member = ListSyntax.nextMember(text, &position) {
      guard member.count > key.count, text[member.lowerBound + key.count] == UInt8(ascii: "=") else { continue }
      var matched = 0
      while matched < key.count, text[member.lowerBound + matched] == key[matched] { matched += 1 }
      if matched == key.count { return member.lowerBound + key.count + 1..<member.upperBound }
    }
    return nil
  }

  /// Reads `key=value` and the blanks after it, up to a comma or the end. Returns false if the text is not a valid
  /// member.
  private static func skipMember(_ text: Span<UInt8>, _ position: inout Int) -> Bool {
    let key = position
    while position < text.count, isKeyCharacter(text[position]) { position += 1 }
    guard (1...256).contains(position - key), isLetterOrDigit(text[key]), position < text.count,
      text[position] == UInt8(ascii: "=")
    else { return false }
    position += 1
    let value = position
    while position < text.count, isValueCharacter(text[position]) { position += 1 }
    var end = position
    // Spaces inside a value belong to the value; spaces at its end belong to the list.
    while end > value, text[end - 1] == 0x20 { end -= 1 }
    ListSyntax.skipBlanks(text, &position)
    return (1...256).contains(end - value) && (position == text.count || text[position] == UInt8(ascii: ","))
  }

  private static func isKeyCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "/"), UInt8(ascii: "@"): true
    default: isLetterOrDigit(byte)
    }
  }

  private static func isValueCharacter(_ byte: UInt8) -> Bool {
    byte &- 0x20 < 0x5F && byte != UInt8(ascii: ",") && byte != UInt8(ascii: "=")
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    byte &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10
  }
}
