import SluiceMessages

/// The value of a `baggage` header, passed on member by member and never a part of one (W3C Baggage §3).
public enum Baggage {
  public static let maximumMembers = 64
  public static let maximumBytes = 8192

  /// What is passed on of a text.
  public enum Content: Sendable, Equatable {
    case nothing
    /// That part of the text, as it stands.
    case part(Range<Int>)
    /// The valid members up to the limits, where the text holds more than that.
    case members([UInt8])
  }

  public static func content(_ text: Span<UInt8>) -> Content {
    let whole = ListSyntax.trimmed(text, 0..<text.count)
    if whole.isEmpty { return .nothing }
    if whole.count <= maximumBytes, isIntact(text) { return .part(whole) }
    let members = selection(text)
    return members.isEmpty ? .nothing : .members(members)
  }

  private static func isIntact(_ text: Span<UInt8>) -> Bool {
    var position = 0
    var members = 0
    while let member = ListSyntax.nextMember(text, &position) {
      members += 1
      guard members <= maximumMembers, isMember(text, member) else { return false }
    }
    return true
  }

  /// Leaves invalid members out and ends before the first one that passes a limit.
  private static func selection(_ text: Span<UInt8>) -> [UInt8] {
    var selected: [UInt8] = []
    var position = 0
    var members = 0
    while members < maximumMembers, let member = ListSyntax.nextMember(text, &position) {
      guard isMember(text, member) else { continue }
      guard selected.count + (members == 0 ? 0 : 1) + member.count <= maximumBytes else { break }
      if members > 0 { selected.append(UInt8(ascii: ",")) }
      selected.append(copying: text.extracting(member))
      members += 1
    }
    return selected
  }

  /// `key=value`, then any number of properties: `;key` or `;key=value`.
  static func isMember(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
    var position = range.lowerBound
    var isProperty = false
    while position <= range.upperBound {
      var end = position
      while end < range.upperBound, text[end] != UInt8(ascii: ";") { end += 1 }
      guard isPair(text, position..<end, needsValue: !isProperty) else { return false }
      isProperty = true
      position = end + 1
    }
    return true
  }

  private static func isPair(_ text: Span<UInt8>, _ range: Range<Int>, needsValue: Bool) -> Bool {
    var equals = range.lowerBound
    while equals < range.upperBound, text[equals] != UInt8(ascii: "=") { equals += 1 }
    let key = ListSyntax.trimmed(text, range.lowerBound..<equals)
    guard FieldSyntax.isToken(text.extracting(key)) else { return false }
    guard equals < range.upperBound else { return !needsValue }
    for index in ListSyntax.trimmed(text, equals + 1..<range.upperBound) where !isOctet(text[index]) { return false }
    return true
  }

  /// `baggage-octet`; commas and semicolons have been taken for delimiters already.
  private static func isOctet(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }
}
