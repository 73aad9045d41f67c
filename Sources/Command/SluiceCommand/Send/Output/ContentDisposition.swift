import SluiceMessages

/// The file name that a server suggests (RFC 6266). It is bytes, because many servers write names that are not UTF-8.
enum ContentDisposition {
  /// The last component of the name in `filename`, or otherwise in `filename*`. Nil if there is no name, or if the name
  /// leads to another folder or contains control characters.
  static func filename(_ field: [UInt8]) -> [UInt8]? {
    let parameters = parameters(field)
    let plain = parameters.first { $0.name == "filename" }?.value
    let extended = parameters.first { $0.name == "filename*" }.flatMap { decoded($0.value) }
    return (plain ?? extended).flatMap(safe)
  }

  /// The last component of a path, in which slashes and backslashes separate components, as a visible name.
  static func safe(_ name: [UInt8]) -> [UInt8]? {
    let parts = name.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
    let last = parts.last.map(Array.init) ?? []
    guard OutputPath.isFileName(last), last.count <= 255 else { return nil }
    return OutputPath.visible(last)
  }

  /// The parameters after the type, with names in lower case. Quotes are removed. A backslash before a quote or a
  /// backslash is an escape; elsewhere it is a Windows separator, as in browsers.
  private static func parameters(_ field: [UInt8]) -> [(name: String, value: [UInt8])] {
    let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
    var (parts, part, isQuoted, rest) = ([[UInt8]](), [UInt8](), false, field[...])
    while let byte = rest.popFirst() {
      switch byte {
      case quote:
        isQuoted.toggle()
      case backslash where isQuoted && (rest.first == quote || rest.first == backslash): part.append(rest.removeFirst())
      case UInt8(ascii: ";") where !isQuoted:
        parts.append(part)
        part = []
      default: part.append(byte)
      }
    }
    parts.append(part)
    return parts.dropFirst().compactMap { part in
      guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return nil }
      let name = String(decoding: trimmed(part[..<equals]), as: UTF8.self)
      return (name.lowercased(), Array(trimmed(part[(equals + 1)...])))
    }
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes.drop { $0 == 0x20 || $0 == 0x09 }
    while let last = rest.last, last == 0x20 || last == 0x09 { rest.removeLast() }
    return rest
  }

  /// `UTF-8'LANGUAGE'PERCENT-ENCODED` (RFC 8187).
  private static func decoded(_ value: [UInt8]) -> [UInt8]? {
    let parts = value.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    let (charset, text) = (Array(parts[0]), Array(parts[2]))
    guard FieldSyntax.equals(charset.span, "utf-8") else { return nil }
    let name = PercentCoding.decoded(text.span)
    return String(validating: name, as: UTF8.self) == nil ? nil : name
  }
}
