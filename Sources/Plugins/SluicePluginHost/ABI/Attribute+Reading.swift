import CSluice
import SluiceMessages

extension Attribute {
  /// Why the host refuses an attribute.
  struct Refusal: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  /// The rule for a text that is too long or is not UTF-8.
  enum TextRule {
    case refuse
    /// The text is cut off and put on one line, and its invalid bytes become U+FFFD. For logs, where a part of the text
    /// is better than none.
    case shorten
    /// The text is cut off, and its invalid bytes become U+FFFD.
    case cut(bytes: Int)
  }

  /// Reads an attribute that a plugin passes.
  init(_ raw: sluice_attribute, texts rule: TextRule) throws(Refusal) {
    guard raw.flags & ~UInt32(SLUICE_ATTRIBUTE_SENSITIVE) == 0 else { throw Refusal("flags \(raw.flags)") }
    let name = try Self.name(raw.name)
    self.init(
      name, try Self.value(raw, name, rule), isSensitive: raw.flags & UInt32(SLUICE_ATTRIBUTE_SENSITIVE) != 0)
  }

  static func name(_ raw: sluice_text) throws(Refusal) -> String {
    guard let bytes = raw.bytes, isName(bytes.span) else {
      throw Refusal("a name has 1 to \(nameBytes) letters, digits, '.', '_' and '-', the first of them a letter")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func value(
    _ raw: sluice_attribute, _ name: String, _ rule: TextRule
  ) throws(Refusal) -> AttributeValue {
    switch Int(raw.kind) {
    case Int(SLUICE_ATTRIBUTE_TEXT): return .text(try text(raw.text, name, rule))
    case Int(SLUICE_ATTRIBUTE_INTEGER): return .integer(raw.integer)
    case Int(SLUICE_ATTRIBUTE_NUMBER):
      guard raw.number.isFinite else { throw Refusal("\(name) is not finite") }
      return .number(raw.number)
    case Int(SLUICE_ATTRIBUTE_BOOL):
      guard raw.integer == 0 || raw.integer == 1 else { throw Refusal("\(name) is neither 0 nor 1") }
      return .bool(raw.integer == 1)
    default: throw Refusal("\(name) has the kind \(raw.kind)")
    }
  }

  private static func text(_ raw: sluice_text, _ name: String, _ rule: TextRule) throws(Refusal) -> String {
    switch rule {
    case .refuse:
      guard let bytes = raw.bytes, bytes.count <= textBytes, let text = String(validating: bytes, as: UTF8.self) else {
        throw Refusal("the text of \(name) is not UTF-8 or has more than \(textBytes) bytes")
      }
      return text
    case .shorten:
      guard let text = PluginText.attribute(raw) else { throw Refusal("the text of \(name) has no address") }
      return text
    case .cut(let bytes):
      guard let text = PluginText.cut(raw, bytes) else { throw Refusal("the text of \(name) has no address") }
      return text
    }
  }
}

extension sluice_attribute {
  /// - Parameter lend: returns a C text with the given content, which must stay valid as long as the attribute is used.
  init(_ attribute: Attribute, _ lend: (String) -> sluice_text) {
    self.init()
    name = lend(attribute.name)
    flags = attribute.isSensitive ? UInt32(SLUICE_ATTRIBUTE_SENSITIVE) : 0
    switch attribute.value {
    case .text(let text):
      kind = UInt32(SLUICE_ATTRIBUTE_TEXT)
      self.text = lend(text)
    case .integer(let integer):
      kind = UInt32(SLUICE_ATTRIBUTE_INTEGER)
      self.integer = integer
    case .number(let number):
      kind = UInt32(SLUICE_ATTRIBUTE_NUMBER)
      self.number = number
    case .bool(let bool):
      kind = UInt32(SLUICE_ATTRIBUTE_BOOL)
      integer = bool ? 1 : 0
    }
  }
}
