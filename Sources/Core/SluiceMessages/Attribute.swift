/// A typed value that a stage puts on a transaction or a span, or into a log record.
public enum AttributeValue: Sendable, Hashable {
  case text(String)
  case integer(Int64)
  /// A finite number.
  case number(Double)
  case bool(Bool)
}

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
  /// Makes a `.text`; its length is not checked.
  public init(stringLiteral value: String) { self = .text(value) }
  /// Makes an `.integer`.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Makes a `.number`.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// Makes a `.bool`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension AttributeValue: CustomStringConvertible {
  /// The value alone, as text.
  public var description: String {
    switch self {
    case .text(let text): text
    case .integer(let integer): "\(integer)"
    case .number(let number): "\(number)"
    case .bool(let bool): "\(bool)"
    }
  }
}

/// A name with a typed value.
public struct Attribute: Sendable, Hashable {
  /// The limit for a name.
  package static let nameBytes = 128
  /// The limit for a text.
  package static let textBytes = 4096

  /// A name such as `http.route`: letters, digits, `.`, `_` and `-`, with a letter at the beginning.
  public let name: String
  /// A text of at most 4096 bytes of UTF-8, a finite number, an integer or a Boolean.
  public let value: AttributeValue
  /// Whether the value is a secret, which is not shown.
  public let isSensitive: Bool

  /// Does not check the rules for name and value; an ``AttributeList`` leaves out an attribute that breaks them.
  public init(_ name: String, _ value: AttributeValue, isSensitive: Bool = false) {
    self.name = name
    self.value = value
    self.isSensitive = isSensitive
  }

  /// An attribute with a text.
  public init(_ name: String, _ text: String) { self.init(name, .text(text)) }

  /// The value as logs and results show it.
  public var shownValue: AttributeValue { isSensitive ? .text(Redactor.placeholder) : value }

  /// Whether the bytes are a valid name of an attribute.
  package static func isName(_ bytes: Span<UInt8>) -> Bool {
    guard (1...nameBytes).contains(bytes.count), isLetter(bytes[0]) else { return false }
    for index in bytes.indices where !isLetter(bytes[index]) {
      switch bytes[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): break
      default: return false
      }
    }
    return true
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte | 0x20 {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): true
    default: false
    }
  }

  /// Whether name and value follow the rules.
  package var isValid: Bool {
    guard Self.isName(name.utf8.span) else { return false }
    switch value {
    case .text(let text): return text.utf8.count <= Self.textBytes
    case .number(let number): return number.isFinite
    case .integer, .bool: return true
    }
  }
}

/// The attributes of a transaction or a log record, in the order in which their names were first set. An empty list
/// takes no memory.
public struct AttributeList: Sendable, Hashable {
  /// The maximum number of attributes.
  package static let maximumCount = 64

  private var entries: [Attribute] = []

  /// An empty list, which takes no memory.
  package init() {}

  /// Leaves out invalid attributes, and attributes beyond ``maximumCount``. If a name occurs twice, the later attribute
  /// counts.
  package init(_ attributes: some Sequence<Attribute>) {
    for attribute in attributes where attribute.isValid { set(attribute) }
  }

  /// The value of the attribute with that name; nil if there is none.
  public subscript(name: String) -> AttributeValue? { entries.first { $0.name == name }?.value }

  /// Sets an attribute. Returns false and changes nothing if there is no room for another name.
  @discardableResult
  package mutating func set(_ attribute: Attribute) -> Bool {
    if let index = entries.firstIndex(where: { $0.name == attribute.name }) {
      entries[index] = attribute
      return true
    }
    guard entries.count < Self.maximumCount else { return false }
    entries.append(attribute)
    return true
  }

  /// Removes an attribute; false if there is none.
  @discardableResult
  package mutating func remove(_ name: String) -> Bool {
    guard let index = entries.firstIndex(where: { $0.name == name }) else { return false }
    entries.remove(at: index)
    return true
  }
}

extension AttributeList: RandomAccessCollection {
  /// Always 0, the position of the name that was set first.
  public var startIndex: Int { 0 }
  /// The number of attributes, at most ``maximumCount``.
  public var endIndex: Int { entries.count }
  /// The attribute at a position, which must be below ``endIndex``.
  public subscript(index: Int) -> Attribute { entries[index] }
}
