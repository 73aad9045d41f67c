import SluiceMessages

/// One decoded member of baggage: a name, a value, and its properties.
public struct BaggageMember: Sendable, Hashable {
  /// Metadata of a member, `;key` or `;key=value` after its value.
  public struct Property: Sendable, Hashable {
    /// The key, which must be a token and is never decoded. A property whose key is not a token is not written.
    public var key: String
    /// The decoded value; nil for a key without a value.
    public var value: String?

    /// - Parameter value: any text, not encoded; nil for a key without a value.
    public init(_ key: String, _ value: String? = nil) {
      self.key = key
      self.value = value
    }
  }

  /// The key, which must be a token and is never decoded. A member whose key is not a token is not written.
  public var key: String
  /// The decoded value, which can be any text.
  public var value: String
  /// The properties in their order. A key may occur more than once.
  public var properties: [Property]

  /// - Parameter value: any text, not encoded.
  public init(_ key: String, _ value: String, properties: [Property] = []) {
    self.key = key
    self.value = value
    self.properties = properties
  }
}

extension Baggage {
  /// The valid members of a header, in their order; a key that occurs twice gives two members.
  public static func members(of text: String) -> [BaggageMember] {
    let bytes = text.utf8.span
    var members: [BaggageMember] = []
    var position = 0
    while let range = ListSyntax.nextMember(bytes, &position) {
      if isMember(bytes, range) { members.append(member(bytes, range)) }
    }
    return members
  }

  /// The value of a header. All characters except letters, digits and `-._~` are percent-encoded. Members and
  /// properties whose key is not a token are omitted. The limits are not applied here, but when the header is sent.
  public static func text(of members: [BaggageMember]) -> String {
    members.filter { FieldSyntax.isToken($0.key.utf8.span) }.map { text(of: $0) }.joined(separator: ",")
  }

  private static func text(of member: BaggageMember) -> String {
    let properties = member.properties.filter { FieldSyntax.isToken($0.key.utf8.span) }
    return "\(member.key)=\(PercentCoding.encoded(member.value))"
      + properties.map { ";" + $0.key + ($0.value.map { "=" + PercentCoding.encoded($0) } ?? "") }.joined()
  }

  private static func member(_ text: Span<UInt8>, _ range: Range<Int>) -> BaggageMember {
    var pairs: [BaggageMember.Property] = []
    let member = text.extracting(range)
    var position = 0
    while let pair = ListSyntax.nextMember(member, &position, separator: UInt8(ascii: ";")) {
      pairs.append(property(member, pair))
    }
    let first = pairs.removeFirst()
    return BaggageMember(first.key, first.value ?? "", properties: pairs)
  }

  /// A key is never decoded, even if it looks encoded.
  private static func property(_ text: Span<UInt8>, _ range: Range<Int>) -> BaggageMember.Property {
    var equals = range.lowerBound
    while equals < range.upperBound, text[equals] != UInt8(ascii: "=") { equals += 1 }
    let key = String(copying: text.extracting(ListSyntax.trimmed(text, range.lowerBound..<equals)))
    guard equals < range.upperBound else { return BaggageMember.Property(key) }
    let value = text.extracting(ListSyntax.trimmed(text, equals + 1..<range.upperBound))
    // Invalid UTF-8 becomes U+FFFD (W3C Baggage §3.3.1.4).
    return BaggageMember.Property(key, String(decoding: PercentCoding.decoded(value), as: UTF8.self))
  }
}
