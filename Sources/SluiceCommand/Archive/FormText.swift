import SluiceMessages

/// Names and values in the form `a=1&b=2`: those of a query, and of a body of `application/x-www-form-urlencoded`.
enum FormText {
  static let mediaType = "application/x-www-form-urlencoded"

  static func isForm(_ contentType: String) -> Bool { MediaType(contentType)?.essence == mediaType }

  /// Decoded; a text that is not UTF-8 then stays as it is.
  static func pairs(_ text: String) -> [NamedValue] {
    split(text).map { NamedValue(decoded($0.name), $0.value.map(decoded) ?? "") }
  }

  /// Hides the values that are secrets in a query.
  static func masked(_ text: String, _ mask: SecretMask) -> String {
    split(text).map { pair in
      guard let value = pair.value else { return pair.name }
      let isSecret = mask.isSecretParameter(decoded(pair.name))
      return "\(pair.name)=\(isSecret ? SecretList.placeholder : value)"
    }.joined(separator: "&")
  }

  /// Whether a secret was hidden in it.
  static func hasHiddenValue(_ text: String) -> Bool { split(text).contains { $0.value == SecretList.placeholder } }

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
