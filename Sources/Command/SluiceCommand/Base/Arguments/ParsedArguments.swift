import SluiceJSON
import SluiceMessages

/// The options and operands that a command was given.
struct ParsedArguments: Sendable {
  private(set) var options: [(name: String, value: ArgumentWord)] = []
  private(set) var operands: [String] = []
  /// The program to run, with its arguments (``CommandDescription/takesProgram``).
  private(set) var program: [ArgumentWord] = []

  mutating func append(option: Option, value: ArgumentWord = "") { options.append((option.name, value)) }
  mutating func append(_ option: (name: String, value: ArgumentWord)) { options.append(option) }
  mutating func append(operand: String) { operands.append(operand) }

  mutating func append(program words: some Sequence<ArgumentWord>) { program += words }

  func has(_ name: String) -> Bool { options.contains { $0.name == name } }

  /// The value of an option, empty if the value was omitted. If the option was given more than once, the last value
  /// counts.
  subscript(name: String) -> String? { bytes(name).map { String(decoding: $0, as: UTF8.self) } }

  func all(_ name: String) -> [String] { allBytes(name).map { String(decoding: $0, as: UTF8.self) } }

  /// The value of an option as bytes. It is used for options whose value need not be UTF-8.
  func bytes(_ name: String) -> [UInt8]? { options.last { $0.name == name }?.value.bytes }

  func allBytes(_ name: String) -> [[UInt8]] { options.filter { $0.name == name }.map(\.value.bytes) }

  func integer(_ name: String, _ range: ClosedRange<Int>) throws(CommandError) -> Int? {
    guard let text = self[name] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw CommandError(
        .usage,
        "--\(name): expected a number from \(range.lowerBound) to \(range.upperBound), found \(PlainText.quote(text))")
    }
    return number
  }

  /// - Parameter unit: the unit of a value that is only a number; nil if the value must have a unit.
  func duration(_ name: String, unit: String? = nil) throws(CommandError) -> Duration? {
    guard let text = self[name] else { return nil }
    let number = text.hasPrefix(".") ? "0" + text : text
    guard let duration = DurationText.duration(number) ?? unit.flatMap({ DurationText.duration(number + $0) }) else {
      throw CommandError(
        .usage, "--\(name): expected a duration such as 500ms, 30s or 2m, found \(PlainText.quote(text))")
    }
    return duration
  }
}
