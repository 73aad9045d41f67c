import SluiceMessages

/// Files with options (`-K`), in the form that curl reads: one option per line, as `name value`, `name = value`,
/// `--name value` or `-X value`. A value can be in double quotes, and `#` begins a comment.
enum OptionsFile {
  private static let maximumDepth = 8
  private static let maximumBytes = 1 << 20

  /// The arguments, with each `-K` replaced by the options of its file.
  static func expand(_ arguments: ParsedArguments) throws(CommandError) -> ParsedArguments {
    try expand(arguments, depth: 0)
  }

  private static func expand(_ arguments: ParsedArguments, depth: Int) throws(CommandError) -> ParsedArguments {
    guard arguments.has("options") else { return arguments }
    guard depth < maximumDepth else {
      throw CommandError(.usage, "send: -K: files name each other more than \(maximumDepth) times")
    }
    var expanded = ParsedArguments()
    for option in arguments.options {
      guard option.name == "options" else {
        expanded.append(option)
        continue
      }
      let path = try DataReader.name(option.value.bytes, "-K")
      let content = try DataReader(limitBytes: maximumBytes).text(ofFile: path, "-K")
      for option in try expand(try read(content, of: path), depth: depth + 1).options { expanded.append(option) }
    }
    for operand in arguments.operands { expanded.append(operand: operand) }
    return expanded
  }

  /// The options of a file.
  static func read(_ content: [UInt8], of path: String) throws(CommandError) -> ParsedArguments {
    var options = ParsedArguments()
    for (index, line) in content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      do throws(CommandError) {
        let words = try words(of: line)
        guard !words.isEmpty else { continue }
        let parsed = try CurlText.parse(words[...])
        guard parsed.operands.isEmpty else { throw CommandError(.usage, "it has more than an option and a value") }
        for option in parsed.options { options.append(option) }
      } catch {
        let reason = error.message.split(separator: "\n").first.map(String.init) ?? ""
        throw CommandError(
          error.status, "send: \(PlainText.path(path)):\(index + 1): \(reason.replacing("send: ", with: ""))")
      }
    }
    return options
  }

  /// The option and its value as separate arguments; empty for a line without an option.
  private static func words(of line: ArraySlice<UInt8>) throws(CommandError) -> [ArgumentWord] {
    var rest = line.drop { isSpace($0) }
    guard let first = rest.first, first != UInt8(ascii: "#") else { return [] }
    let name = rest.prefix { !isSpace($0) && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ":") }
    rest = rest[name.endIndex...].drop { isSpace($0) }
    if rest.first == UInt8(ascii: "=") || rest.first == UInt8(ascii: ":") {
      rest = rest.dropFirst().drop { isSpace($0) }
    }
    let option = first == UInt8(ascii: "-") ? ArgumentWord(name) : ArgumentWord("--".utf8 + name)
    while let last = rest.last, isSpace(last) { rest.removeLast() }
    guard !rest.isEmpty else { return [option] }
    guard rest.first == UInt8(ascii: "\"") else { return [option, ArgumentWord(rest)] }
    return [option, ArgumentWord(try quoted(rest.dropFirst()))]
  }

  private static func quoted(_ text: ArraySlice<UInt8>) throws(CommandError) -> [UInt8] {
    let escapes: [UInt8: UInt8] = [
      UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09, UInt8(ascii: "v"): 0x0B,
    ]
    var (value, rest) = ([UInt8](), text)
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") { return value }
      guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
        value.append(byte)
        continue
      }
      value.append(escapes[next] ?? next)
    }
    throw CommandError(.usage, "\" has no end")
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}
