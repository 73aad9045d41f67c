/// The name of a plugin that `sluice plugin new` creates, or that is looked up among the installed plugins.
package enum PluginName {
  /// The rule for names, as a part of a sentence.
  package static let rule = "lower-case letters, digits and single dashes, a letter first, at most 64 characters"

  package static func isValid(_ name: String) -> Bool {
    let isLetter = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
    let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    let dash = UInt8(ascii: "-")
    let bytes = Array(name.utf8)
    guard bytes.count <= 64, let first = bytes.first, isLetter(first), bytes.last != dash else { return false }
    return bytes.allSatisfy { isLetter($0) || isDigit($0) || $0 == dash }
      && !zip(bytes, bytes.dropFirst()).contains { $0 == dash && $1 == dash }
  }
}
