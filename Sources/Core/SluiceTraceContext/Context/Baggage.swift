import SluiceMessages

/// Decides what to pass on of a `baggage` header: all valid members, or nothing.
///
/// W3C Baggage does not say which members to drop beyond the limits ("Limits"). This type drops all of them, because a
/// shortened list would not show that members are missing.
public enum Baggage {
  /// The maximum number of valid members. If there are more, nothing is passed on.
  public static let maximumMembers = 64
  /// The maximum size of the valid members and the commas between them. If they are larger, nothing is passed on.
  public static let maximumBytes = 8192

  /// The part of a text that is passed on.
  public enum Content: Sendable, Equatable {
    case nothing
    /// All members are valid: this part of the text is passed on unchanged.
    case part(Range<Int>)
    /// Some members are invalid: these valid members are passed on.
    case members([UInt8])
    /// There are more members or bytes than ``maximumMembers`` and ``maximumBytes`` allow, so nothing is passed on.
    case beyondLimits
  }

  /// Decides which part of a header's value is passed on. The caller must first join several lines with commas.
  public static func content(_ text: Span<UInt8>) -> Content {
    let whole = ListSyntax.trimmed(text, 0..<text.count)
    if whole.isEmpty { return .nothing }
    if whole.count <= maximumBytes, isIntact(text) { return .part(whole) }
    return selection(text)
  }

  /// The part of a text that is passed on; nil if nothing is passed on.
  static func valid(_ text: String) -> String? { valid(text, content(text.utf8.span)) }

  /// - Parameter content: the result of ``content(_:)`` for this text.
  static func valid(_ text: String, _ content: Content) -> String? {
    switch content {
    case .nothing, .beyondLimits: nil
    case .part(let range):
      range.count == text.utf8.count ? text : String(copying: text.utf8.span.extracting(range))
    case .members(let members): String(copying: members.span)
    }
  }

  /// Why a part of a text is not passed on; nil if the whole text is passed on.
  public static func refusal(_ text: Span<UInt8>) -> InvalidContext? { refusal(text, content(text)) }

  /// - Parameter content: the result of ``content(_:)`` for this text.
  static func refusal(_ text: Span<UInt8>, _ content: Content) -> InvalidContext? {
    switch content {
    case .part: nil
    case .nothing: ListSyntax.trimmed(text, 0..<text.count).isEmpty ? nil : refusal("none of its members is valid")
    case .members: refusal("members that are not valid are left out")
    case .beyondLimits:
      refusal("it has more than \(maximumMembers) members or \(maximumBytes) bytes, so none of it is passed on")
    }
  }

  private static func refusal(_ reason: String) -> InvalidContext { InvalidContext("baggage", reason) }

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

  /// Selects the valid members. The limits apply only to these.
  private static func selection(_ text: Span<UInt8>) -> Content {
    var selected: [UInt8] = []
    var position = 0
    var members = 0
    while let member = ListSyntax.nextMember(text, &position) {
      guard isMember(text, member) else { continue }
      if members > 0 { selected.append(UInt8(ascii: ",")) }
      members += 1
      guard members <= maximumMembers, selected.count + member.count <= maximumBytes else { return .beyondLimits }
      selected.append(copying: text.extracting(member))
    }
    return members == 0 ? .nothing : .members(selected)
  }

  /// A member is `key=value`, followed by any number of properties: `;key` or `;key=value`.
  static func isMember(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
    let member = text.extracting(range)
    var position = 0
    return skipMember(member, &position) && position == member.count
  }

  /// Reads a member up to a comma or the end. Returns false if the text is not a valid member.
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

  /// Whether a byte is a `baggage-octet`: a printable character, except blanks, quotation marks, commas, semicolons and
  /// backslashes.
  private static func isOctet(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\\"): false
    default: byte > 0x20 && byte < 0x7F
    }
  }
}
