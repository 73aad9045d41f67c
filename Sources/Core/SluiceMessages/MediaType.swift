/// A media type, as in `Content-Type` (RFC 9110 §8.3.1).
package struct MediaType: Sendable, Hashable {
  /// `type/subtype`, in lower case.
  package let essence: String
  /// The value of the `charset` parameter, unchanged; nil if there is none.
  package let charset: String?

  /// Nil if the value does not begin with a type and a subtype. Malformed parameters are ignored.
  package init?(_ value: String) {
    let parts = Self.parts(value)
    guard let first = parts.first else { return nil }
    let names = first.split(separator: "/", omittingEmptySubsequences: false)
    guard names.count == 2, names.allSatisfy({ FieldSyntax.isToken($0.utf8.span) }) else { return nil }
    essence = first.lowercased()
    charset = parts.dropFirst().lazy.compactMap(Self.charset).first
  }

  /// The parts between the `;` outside of quoted strings, without the white space around them.
  private static func parts(_ value: String) -> [Substring] {
    var parts: [Substring] = []
    var start = value.startIndex
    var isQuoted = false
    var isEscaped = false
    for index in value.indices {
      let character = value[index]
      if isEscaped {
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      } else if character == ";", !isQuoted {
        parts.append(trimmed(value[start..<index]))
        start = value.index(after: index)
      }
    }
    return parts + [trimmed(value[start...])]
  }

  private static func charset(_ parameter: Substring) -> String? {
    guard let equals = parameter.firstIndex(of: "="), parameter[..<equals].lowercased() == "charset" else { return nil }
    let value = unquoted(parameter[parameter.index(after: equals)...])
    return FieldSyntax.isToken(value.utf8.span) ? value : nil
  }

  private static func unquoted(_ text: Substring) -> String {
    guard text.count >= 2, text.first == "\"", text.last == "\"" else { return String(text) }
    var value = ""
    var isEscaped = false
    for character in text.dropFirst().dropLast() {
      if character == "\\", !isEscaped {
        isEscaped = true
      } else {
        value.append(character)
        isEscaped = false
      }
    }
    return value
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }
}
