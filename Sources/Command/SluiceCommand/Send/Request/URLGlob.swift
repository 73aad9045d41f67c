import SluiceMessages

/// The URLs that a URL with braces and brackets stands for, as with curl: `{a,b}`, `[1-9]`, `[01-10:2]`, `[a-z]`. The
/// last braces or brackets change fastest. A backslash before a brace or a bracket makes it literal.
struct URLGlob: Sendable {
  private enum Part: Sendable {
    case text(String)
    case words([String])
    /// The numbers are padded with zeros to this width.
    case numbers(first: Int, count: Int, step: Int, width: Int)
    case letters(first: UInt8, count: Int, step: Int)

    /// How many texts this part produces.
    var count: Int {
      switch self {
      case .text: 1
      case .words(let words): words.count
      case .numbers(_, let count, _, _), .letters(_, let count, _): count
      }
    }

    func text(at index: Int) -> String {
      switch self {
      case .text(let text): return text
      case .words(let words): return words[index]
      case .numbers(let first, _, let step, let width):
        let digits = String(first + index * step)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
      case .letters(let first, _, let step): return String(Character(Unicode.Scalar(first + UInt8(index * step))))
      }
    }

    var isPattern: Bool { if case .text = self { false } else { true } }
  }

  private var parts: [Part] = []
  /// The number of URLs.
  private(set) var count = 1

  /// - Parameter isLiteral: whether braces and brackets are part of the URL.
  init(_ text: String, isLiteral: Bool = false) throws(CommandError) {
    guard !isLiteral else {
      parts = [.text(text)]
      return
    }
    var reader = Reader(rest: Substring(text))
    do throws(Fault) { parts = try reader.read() } catch {
      throw CommandError(
        .usage,
        "send: the URL \(PlainText.quote(Redactor().url(text))): \(error.message); with -g, braces and brackets are "
          + "taken literally")
    }
    for part in parts {
      let (product, isTooLarge) = count.multipliedReportingOverflow(by: part.count)
      guard !isTooLarge, product <= 1_000_000_000 else {
        throw CommandError(
          .usage, "send: \(PlainText.quote(Redactor().url(text))) stands for more than 1000000000 URLs")
      }
      count = product
    }
  }

  /// One of the URLs, and the texts that it has in place of the braces and brackets.
  subscript(index: Int) -> (url: String, values: [String]) {
    var (rest, texts) = (index, [String](repeating: "", count: parts.count))
    for position in parts.indices.reversed() {
      texts[position] = parts[position].text(at: rest % parts[position].count)
      rest /= parts[position].count
    }
    return (texts.joined(), zip(parts, texts).filter { $0.0.isPattern }.map(\.1))
  }

  /// Up to this number of URLs, all are samples.
  private static let sampledCount = 10_000

  /// The numbers of URLs that show whether all are right: all of them, or if there are very many, those that differ
  /// from the first in one pattern. Of a range, the last text is the longest.
  var samples: [Int] {
    guard count > Self.sampledCount else { return Array(0..<count) }
    var (samples, stride) = ([0], 1)
    for part in parts.reversed() {
      var places = [part.count - 1]
      if case .words(let words) = part { places = Array(words.indices) }
      samples += places.filter { $0 > 0 }.map { $0 * stride }
      stride *= part.count
    }
    return samples
  }

  /// A file name in which `#1`, `#2` and so on are replaced by the texts of braces and brackets.
  static func name(_ name: String, with values: [String]) -> String {
    var (text, rest) = ("", Substring(name))
    while let mark = rest.firstIndex(of: "#") {
      text += rest[..<mark]
      let digits = rest[rest.index(after: mark)...].prefix { $0.isASCII && $0.isNumber }
      if let number = Int(digits), values.indices.contains(number - 1) {
        text += values[number - 1]
      } else {
        text += "#" + digits
      }
      rest = rest[digits.endIndex...]
    }
    return text + rest
  }

  private struct Fault: Error { let message: String }

  private struct Reader {
    var rest: Substring
    private var parts: [Part] = []
    private var text = ""

    init(rest: Substring) { self.rest = rest }

    mutating func read() throws(Fault) -> [Part] {
      while let character = rest.popFirst() {
        switch character {
        case "\\" where rest.first.map("{}[]".contains) == true: text.append(rest.removeFirst())
        case "{": append(try words())
        case "[":
          if let literal = literalBrackets() { text += literal } else { append(try range()) }
        case "}", "]": throw Fault(message: "\(character) has no beginning")
        default: text.append(character)
        }
      }
      if !text.isEmpty || parts.isEmpty { parts.append(.text(text)) }
      return parts
    }

    private mutating func append(_ part: Part) {
      if !text.isEmpty { parts.append(.text(text)) }
      text = ""
      parts.append(part)
    }

    /// Reads `{one,two}` after the opening brace.
    private mutating func words() throws(Fault) -> Part {
      var words = [""]
      while let character = rest.popFirst() {
        switch character {
        case "\\" where rest.first.map("{}[],".contains) == true: words[words.count - 1].append(rest.removeFirst())
        case ",": words.append("")
        case "}":
          guard words != [""] else { throw Fault(message: "{} is empty") }
          return .words(words)
        case "{", "[": throw Fault(message: "\(character) within { is not possible")
        default: words[words.count - 1].append(character)
        }
      }
      throw Fault(message: "{ has no end")
    }

    /// Reads an IPv6 address or empty brackets. Returns nil if the brackets contain a range.
    private mutating func literalBrackets() -> String? {
      guard let end = rest.firstIndex(of: "]") else { return nil }
      let content = rest[..<end]
      let isAddress =
        content.count { $0 == ":" } >= 2
        && content.prefix { $0 != "%" }.allSatisfy { $0.isHexDigit || ":.".contains($0) }
      guard content.isEmpty || isAddress else { return nil }
      rest = rest[rest.index(after: end)...]
      return "[\(content)]"
    }

    /// Reads `[1-9]`, `[1-9:2]` or `[a-z]` after the opening bracket.
    private mutating func range() throws(Fault) -> Part {
      guard let end = rest.firstIndex(of: "]") else { throw Fault(message: "[ has no end") }
      let content = rest[..<end]
      rest = rest[rest.index(after: end)...]
      let invalid = Fault(message: "[\(content)] is not a range such as [1-9], [01-10:2] or [a-z]")
      let halves = content.split(separator: ":", omittingEmptySubsequences: false)
      let bounds = halves[0].split(separator: "-", omittingEmptySubsequences: false)
      guard halves.count < 3, bounds.count == 2, let step = halves.count == 2 ? Self.number(halves[1]) : 1, step > 0
      else {
        throw invalid
      }
      if let first = Self.number(bounds[0]), let last = Self.number(bounds[1]) {
        guard first <= last else { throw invalid }
        let width = bounds[0].hasPrefix("0") ? bounds[0].count : 0
        return .numbers(first: first, count: (last - first) / step + 1, step: step, width: width)
      }
      guard let first = Self.letter(bounds[0]), let last = Self.letter(bounds[1]), first <= last,
        (first < 0x61) == (last < 0x61)
      else { throw invalid }
      return .letters(first: first, count: Int(last - first) / step + 1, step: step)
    }

    private static func number(_ text: Substring) -> Int? {
      text.count < 16 && !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber } ? Int(text) : nil
    }

    private static func letter(_ text: Substring) -> UInt8? {
      guard text.utf8.count == 1, let byte = text.utf8.first, (0x61...0x7A).contains(byte | 0x20) else { return nil }
      return byte
    }
  }
}
