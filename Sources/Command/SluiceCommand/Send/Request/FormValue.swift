import SluiceMessages

/// The value of a field of `-F`, with its parameters: `VALUE;type=TYPE;filename=NAME`. The value and each parameter can
/// be in double quotes. In quotes, a backslash escapes a quote or a backslash.
struct FormValue {
  var content: [UInt8]
  private(set) var type: [UInt8]?
  private(set) var filename: [UInt8]?

  init(content: [UInt8]) { self.content = content }

  init(_ text: some Sequence<UInt8>) throws(CommandError) {
    var rest = Array(text)[...]
    content = Self.word(&rest)
    while rest.popFirst() != nil {
      rest = rest.drop { $0 == UInt8(ascii: " ") }
      if rest.starts(with: "type=".utf8) {
        rest = rest.dropFirst(5)
        type = Self.type(&rest)
      } else if rest.starts(with: "filename=".utf8) {
        rest = rest.dropFirst(9)
        filename = Self.word(&rest)
      } else {
        throw CommandError(
          .usage,
          "-F: unknown parameter \(PlainText.quote(Array(rest).span)); expected type= or filename=. Put a value with a"
            + " semicolon in double quotes, or use --form-string")
      }
    }
  }

  /// Reads the text up to the next semicolon.
  private static func word(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
    if rest.first == UInt8(ascii: "\""), let quoted = quoted(&rest) { return quoted }
    let word = rest.prefix { $0 != UInt8(ascii: ";") }
    rest = rest.dropFirst(word.count)
    return Array(word)
  }

  /// Reads a text in quotes. If neither a semicolon nor the end follows the quotes, returns nil and consumes nothing.
  private static func quoted(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
    var (text, tail) = ([UInt8](), rest.dropFirst())
    while let byte = tail.popFirst() {
      if byte == UInt8(ascii: "\"") {
        guard tail.isEmpty || tail.first == UInt8(ascii: ";") else { return nil }
        rest = tail
        return text
      }
      let isEscape =
        byte == UInt8(ascii: "\\") && (tail.first == UInt8(ascii: "\"") || tail.first == UInt8(ascii: "\\"))
      text.append(isEscape ? tail.removeFirst() : byte)
    }
    return nil
  }

  /// Reads a media type with its own parameters, such as `text/plain;charset=utf-8`, up to the next parameter of `-F`.
  private static func type(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
    var type = word(&rest)
    while !rest.isEmpty, !rest.starts(with: ";filename=".utf8), !rest.starts(with: "; filename=".utf8) {
      rest.removeFirst()
      type += [UInt8(ascii: ";")] + word(&rest)
    }
    return type
  }
}
