import SluiceMessages

/// A number of bytes, in which `k`, `m` or `g` means a power of 1024, as with curl.
enum ByteCount {
  /// The value of an option; nil if the option is absent.
  static func make(_ arguments: ParsedArguments, _ option: String) throws(CommandError) -> Int? {
    guard let text = arguments[option] else { return nil }
    guard let count = parse(text) else {
      throw CommandError(
        .usage, "send: --\(option): expected a number of bytes such as 500k or 1.5M, found \(PlainText.quote(text))")
    }
    return count
  }

  /// Returns nil if the text is not such a number.
  static func parse(_ text: String) -> Int? {
    let factors: [Character: Int] = ["k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "b": 1]
    let factor = text.last.flatMap { factors[Character($0.lowercased())] }
    guard let number = Double(factor == nil ? text[...] : text.dropLast()), number >= 0, number < 1e9 else {
      return nil
    }
    return Int(number * Double(factor ?? 1))
  }

  /// Bytes per second; nil for no limit.
  static func rate(_ arguments: ParsedArguments) throws(CommandError) -> Int? {
    try make(arguments, "limit-rate").flatMap { $0 > 0 ? $0 : nil }
  }
}
