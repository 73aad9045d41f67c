import SluiceMessages

/// Names and values in the form `a=1&b=2`, as a query and a body of `application/x-www-form-urlencoded` have them.
enum FormText {
  static let mediaType = "application/x-www-form-urlencoded"

  static func isForm(_ contentType: String) -> Bool { MediaType(contentType)?.essence == mediaType }

  /// The pairs, decoded. A name or value that does not decode to UTF-8 stays encoded.
  static func pairs(_ text: String) -> [NamedValue] {
    split(text).map { NamedValue(decoded($0.name), $0.value.map(decoded) ?? "") }
  }

  /// Hides values that would be secrets in a query.
  static func masked(_ text: String, _ mask: SecretMask) -> String {
    split(text).map { pair in
      guard let value = pair.value else { return pair.name }
      let isSecret = mask.isSecretParameter(decoded(pair.name))
      return "\(pair.name)=\(isSecret ? Redactor.placeholder : value)"
    }.joined(separator: "&")
  }

  /// Whether the placeholder has replaced a value in the text.
  static func hasHiddenValue(_ text: String) -> Bool { split(text).contains { $0.value == Redactor.placeholder } }

  /// The opposite of ``pairs(_:)``.
  static func text(_ pairs: some Sequence<NamedValue>) -> String {
    pairs.map { "\(PercentCoding.encoded($0.name))=\(PercentCoding.encoded($0.value))" }.joined(separator: "&")
  }

  private static func split(_ text: String) -> [(name: String, value: String?)] {
    text.parts(between: UInt8(ascii: "&")).map { part in
      guard let (name, value) = part.parts(around: UInt8(ascii: "=")) else { return (String(part), nil) }
      return (String(name), String(value))
    }
  }

  private static func decoded(_ text: String) -> String {
    let spaced = text.replacing("+", with: " ")
    return String(validating: PercentCoding.decoded(spaced.utf8.span), as: UTF8.self) ?? text
  }
}
