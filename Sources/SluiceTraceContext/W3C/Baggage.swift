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

  /// What of a text is passed on; nil where that is nothing.
  static func valid(_ text: String) -> String? {
    switch content(text.utf8.span) {
    case .nothing: nil
    case .part(let range):
      range.count == text.utf8.count ? text : String(copying: text.utf8.span.extracting(range))
    case .members(let members): String(copying: members.span)
    }
  }

  private static func isIntact(_ text: Span<UInt8>) -> Bool {
    var position = 0
    var members = 0
    while members < maximumMembers, skipMember(text, &position) {
      if position == text.count { return true }
      members += 1
      position += 1
    }
    return false
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
    let member = text.extracting(range)
    var position = 0
    return skipMember(member, &position) && position == member.count
  }

  /// Reads a member up to a comma or the end; false where that is not what stands there.
  private static func skipMember(_ text: Span<UInt8>, _ position: inout Int) -> Bool {
    guard skipPair(text, &position, needsValue: true) else { return false }
    while position < text.count, text[position] == UInt8(ascii: ";") {
      position += 1
      guard skipPair(text, &position, needsValue: false) else { return false }
    }
    return position == text.count || text[position] == UInt8(ascii: ",")
  }

  /// Reads `key` or `key=value` and the blanks around both.
  @inline(__always)
  private static func skipPair(_ text: Span<UInt8>, _ position: inout Int, needsValue: Bool) -> Bool {
    ListSyntax.skipBlanks(text, &position)
    let key = position
    while position < text.count, FieldSyntax.isTokenCharacter(text[position]) { position += 1 }
    guard position > key else { return false }
    ListSyntax.skipBlanks(text, &position)
    guard position < text.count, text[position] == UInt8(ascii: "=") else { return !needsValue }
    position += 1
    ListSyntax.skipBlanks(text, &position)
    while position < text.count, isOctet(text[position]) { position += 1 }
    ListSyntax.skipBlanks(text, &position)
    return true
  }

  /// `baggage-octet`: printable, save blanks, quotation marks, commas, semicolons and backslashes.
  private static func isOctet(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\\"): false
    default: byte > 0x20 && byte < 0x7F
    }
  }
}
