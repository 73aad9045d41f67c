/// The value of a `tracestate` header, which is checked and passed on as it is (W3C Trace Context level 2 §2.3).
public enum TraceState {
  public static let maximumMembers = 32

  /// The part of the text to pass on: all of it but blanks at its ends.
  ///
  /// Nil where there is no member, or where one bad member spoils the state. A repeated key is the business of its owner.
  public static func content(_ text: Span<UInt8>) -> Range<Int>? {
    var position = 0
    var members = 0
    while let member = ListSyntax.nextMember(text, &position) {
      if member.isEmpty { continue }
      members += 1
      guard members <= maximumMembers, isMember(text, member) else { return nil }
    }
    return members == 0 ? nil : ListSyntax.trimmed(text, 0..<text.count)
  }

  /// Whether there is nothing but blanks and commas.
  static func isEmpty(_ text: Span<UInt8>) -> Bool {
    for index in text.indices where text[index] != UInt8(ascii: ",") && !ListSyntax.isBlank(text[index]) {
      return false
    }
    return true
  }

  /// Where the value of the first member of that key stands.
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

  private static func isMember(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
    var equals = range.lowerBound
    while equals < range.upperBound, text[equals] != UInt8(ascii: "=") { equals += 1 }
    return isKey(text, range.lowerBound..<equals) && equals < range.upperBound
      && isValue(text, equals + 1..<range.upperBound)
  }

  private static func isKey(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
    guard (1...256).contains(range.count), isLetterOrDigit(text[range.lowerBound]) else { return false }
    for index in range {
      switch text[index] {
      case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "/"), UInt8(ascii: "@"): continue
      case let byte where isLetterOrDigit(byte): continue
      default: return false
      }
    }
    return true
  }

  /// A final space cannot occur: it would belong to the list.
  private static func isValue(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
    guard (1...256).contains(range.count) else { return false }
    for index in range {
      let byte = text[index]
      guard byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "=") else { return false }
    }
    return true
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }
}
