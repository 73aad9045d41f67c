import SluiceMessages

/// The words of a command for a POSIX shell, with bash's `$'…'` but without expansions.
struct ShellWords {
  private var rest: ArraySlice<UInt8>
  private var words: [ArgumentWord] = []
  private var word: [UInt8]?

  /// - Throws: an error if the text is more than one simple command, needs expansions, or ends within quotes.
  static func parse(_ text: some Sequence<UInt8>) throws(CommandError) -> [ArgumentWord] {
    var parser = ShellWords(rest: Array(text)[...])
    try parser.parse()
    return parser.words
  }

  /// The word as the shell needs it: in single quotes if it contains characters that the shell would interpret.
  static func quoted(_ word: [UInt8]) -> String {
    let text = String(decoding: word, as: UTF8.self)
    let isPlain = !word.isEmpty && word.allSatisfy { $0.isLetterOrDigit || "-._/:=@,+%".utf8.contains($0) }
    if isPlain { return text }
    let hasControls = word.contains { $0 < 0x20 || $0 == 0x7F } || String(validating: word, as: UTF8.self) == nil
    return hasControls ? "$'\(escaped(word))'" : "'\(text.replacing("'", with: "'\\''"))'"
  }

  private static func escaped(_ word: [UInt8]) -> String {
    var text: [UInt8] = []
    let isText = String(validating: word, as: UTF8.self) != nil
    for byte in word {
      switch byte {
      case UInt8(ascii: "'"), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
      case 0x0A: text += "\\n".utf8
      case 0x0D: text += "\\r".utf8
      case 0x09: text += "\\t".utf8
      case _ where byte < 0x20 || byte == 0x7F || byte >= 0x80 && !isText:
        text += Array("\\x\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
      default: text.append(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func append(_ bytes: some Sequence<UInt8>) { word = (word ?? []) + bytes }

  private mutating func endWord() {
    if let word { words.append(ArgumentWord(word)) }
    word = nil
  }

  private mutating func parse() throws(CommandError) {
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): endWord()
      case UInt8(ascii: "\n"):
        endWord()
        guard rest.allSatisfy({ " \t\r\n".utf8.contains($0) }) else { throw unexpected("a second line") }
      case UInt8(ascii: "\\"): takeEscape()
      case UInt8(ascii: "'"): append(try takeQuoted(by: UInt8(ascii: "'"), "'"))
      case UInt8(ascii: "\""): try takeDoubleQuoted()
      case UInt8(ascii: "$") where rest.first == UInt8(ascii: "'"):
        rest.removeFirst()
        try takeANSI()
      case UInt8(ascii: "^") where rest.first == UInt8(ascii: "\""):
        throw CommandError(.usage, "--from-curl: this is written for Windows' cmd; copy the command for bash")
      case UInt8(ascii: "#") where word == nil: throw unexpected("a comment")
      case _ where "|&;<>()`".utf8.contains(byte):
        throw unexpected("\(Character(Unicode.Scalar(byte))) outside of quotes")
      case UInt8(ascii: "$"): throw unexpected("$ outside of single quotes")
      default: append([byte])
      }
    }
    endWord()
  }

  private func unexpected(_ what: String) -> CommandError {
    CommandError(.usage, "--from-curl: expected one curl command, found \(what)")
  }

  /// Reads the character after a backslash. A backslash before a line end adds nothing.
  private mutating func takeEscape() {
    if rest.starts(with: "\r\n".utf8) { rest.removeFirst() }
    guard let byte = rest.popFirst(), byte != UInt8(ascii: "\n") else { return }
    append([byte])
  }

  private mutating func takeQuoted(by quote: UInt8, _ name: String) throws(CommandError) -> ArraySlice<UInt8> {
    guard let end = rest.firstIndex(of: quote) else {
      throw CommandError(.usage, "--from-curl: the text ends within \(name)")
    }
    let text = rest[..<end]
    rest = rest[(end + 1)...]
    return text
  }

  private mutating func takeDoubleQuoted() throws(CommandError) {
    append([])
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return
      case UInt8(ascii: "\\"):
        guard let next = rest.popFirst() else { break }
        if next != UInt8(ascii: "\n") { append("\"\\$`".utf8.contains(next) ? [next] : [byte, next]) }
      case UInt8(ascii: "$"), UInt8(ascii: "`"): throw unexpected("$ or ` within double quotes")
      default: append([byte])
      }
    }
    throw CommandError(.usage, "--from-curl: the text ends within \"")
  }

  /// Reads `$'…'`, in which bash accepts the escapes of C.
  private mutating func takeANSI() throws(CommandError) {
    append([])
    let simple: [UInt8: UInt8] = [
      UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9, UInt8(ascii: "a"): 7, UInt8(ascii: "b"): 8,
      UInt8(ascii: "f"): 12, UInt8(ascii: "v"): 11, UInt8(ascii: "e"): 27,
    ]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "'") { return }
      guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
        append([byte])
        continue
      }
      switch next {
      case UInt8(ascii: "x"): append([UInt8(truncatingIfNeeded: takeNumber(radix: 16, digits: 2))])
      case UInt8(ascii: "u"), UInt8(ascii: "U"):
        let number = takeNumber(radix: 16, digits: next == UInt8(ascii: "u") ? 4 : 8)
        append(String(Unicode.Scalar(UInt32(truncatingIfNeeded: number)).map(Character.init) ?? "\u{FFFD}").utf8)
      case 0x30...0x37:
        rest = [next] + rest
        append([UInt8(truncatingIfNeeded: takeNumber(radix: 8, digits: 3))])
      default: append(simple[next].map { [$0] } ?? ("'\"\\?".utf8.contains(next) ? [next] : [byte, next]))
      }
    }
    throw CommandError(.usage, "--from-curl: the text ends within $'")
  }

  private mutating func takeNumber(radix: Int, digits: Int) -> Int {
    let text = rest.prefix(digits).prefix { Character(Unicode.Scalar($0)).hexDigitValue.map { $0 < radix } ?? false }
    rest = rest.dropFirst(text.count)
    return Int(String(decoding: text, as: UTF8.self), radix: radix) ?? 0
  }
}
