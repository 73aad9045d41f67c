import SluiceMessages

/// The text that `-w` prints at the end, with `%{VARIABLE}`, `%header{NAME}`, `%%`, `\n`, `\r` and
/// `\t` as with curl. The text and the headers are bytes, which need not be UTF-8.
struct WriteOut {
  private enum Part {
    case text([UInt8])
    case variable(String)
    case header(String)
    /// All variables as one JSON object.
    case json
    /// The header of the response as one JSON object.
    case headerJSON
    /// The parts after this one are written to this stream.
    case stream(isError: Bool)
    /// The parts after this one are written only if the request failed.
    case onError
  }

  private var parts: [Part] = []

  /// Returns nil without `-w`.
  ///
  /// - Throws: if the format has an unknown variable, or its file cannot be read.
  static func make(_ arguments: ParsedArguments) throws(CommandError) -> WriteOut? {
    guard let format = arguments.bytes("write-out") else { return nil }
    guard let path = try DataReader.path(ArgumentWord(format), "-w") else { return try WriteOut(format) }
    let content = try DataReader(limitBytes: 1 << 20).text(ofFile: path, "-w")
    // As with curl, line ends in the file are not part of the format.
    return try WriteOut(content.filter { $0 != 0x0A && $0 != 0x0D })
  }

  init(_ format: [UInt8]) throws(CommandError) {
    var rest = format[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"): try readVariable(&rest)
      case UInt8(ascii: "\\"): readEscape(&rest)
      default: append([byte])
      }
    }
  }

  private mutating func append(_ text: [UInt8]) {
    if case .text(let earlier)? = parts.last {
      parts[parts.count - 1] = .text(earlier + text)
    } else {
      parts.append(.text(text))
    }
  }

  private mutating func readEscape(_ rest: inout ArraySlice<UInt8>) {
    let backslash = UInt8(ascii: "\\")
    switch rest.popFirst() {
    case UInt8(ascii: "n"): append([0x0A])
    case UInt8(ascii: "r"): append([0x0D])
    case UInt8(ascii: "t"): append([0x09])
    case let other?: append([backslash, other])
    case nil: append([backslash])
    }
  }

  private mutating func readVariable(_ rest: inout ArraySlice<UInt8>) throws(CommandError) {
    let percent = UInt8(ascii: "%")
    if rest.first == percent {
      rest.removeFirst()
      return append([percent])
    }
    let isHeader = rest.starts(with: "header{".utf8)
    let start = isHeader ? rest.dropFirst(6) : rest
    guard start.first == UInt8(ascii: "{"), let end = start.firstIndex(of: UInt8(ascii: "}")) else {
      return append([percent])
    }
    let name = ArgumentWord(start[(start.startIndex + 1)..<end]).shown
    rest = start[(end + 1)...]
    switch name {
    case _ where isHeader: parts.append(.header(name))
    case "stdout": parts.append(.stream(isError: false))
    case "stderr": parts.append(.stream(isError: true))
    case "onerror": parts.append(.onError)
    case "json": parts.append(.json)
    case "header_json": parts.append(.headerJSON)
    default:
      guard WriteOutValues.names.contains(name) else { throw Self.unknown(name) }
      parts.append(.variable(name))
    }
  }

  private static func unknown(_ name: String) -> CommandError {
    let known = (WriteOutValues.names + ["json", "header_json", "stdout", "stderr", "onerror"]).sorted()
    let hint = Suggestion.nearest(to: name, among: known).map { "; did you mean %{\($0)}?" } ?? ""
    return CommandError(
      .usage,
      "send: -w: unknown variable \(PlainText.quote(name))\(hint)\nthe variables are \(known.joined(separator: ", "))"
        + " and %header{NAME}")
  }

  func write(_ values: WriteOutValues) throws(CommandError) {
    var text: [UInt8] = []
    var isError = false
    func flush() throws(CommandError) {
      if isError {
        StandardError.write(text)
      } else {
        try SendStatus.writing { () throws(CommandError) in try StandardOutput.write(text) }
      }
      text = []
    }
    for part in parts {
      switch part {
      case .text(let plain): text += plain
      case .variable(let name): text += values.text(of: name)
      case .header(let name): text += values.header(name)
      case .json: text += values.json
      case .headerJSON: text += values.headerJSON
      case .stream(let toError):
        try flush()
        isError = toError
      case .onError: if values.status == .succeeded { return try flush() }
      }
    }
    try flush()
  }
}
