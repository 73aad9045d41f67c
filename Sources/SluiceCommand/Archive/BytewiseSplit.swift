// Compares bytes, because a delimiter and a combining mark after it are one character, and a secret must not get past
// the mask in this way.
extension StringProtocol {
  /// The parts between delimiters, empty ones too.
  func parts(between delimiter: UInt8) -> [Substring] {
    Substring(self).utf8.split(separator: delimiter, omittingEmptySubsequences: false).map { Substring($0) }
  }

  /// The text before and after the first delimiter; nil without one.
  func parts(around delimiter: UInt8) -> (before: Substring, after: Substring)? {
    let bytes = Substring(self).utf8
    guard let place = bytes.firstIndex(of: delimiter) else { return nil }
    return (Substring(bytes[..<place]), Substring(bytes[place...].dropFirst()))
  }

  /// Without spaces and tabs at both ends.
  var trimmedBlanks: String {
    var bytes = Substring(self).utf8
    while bytes.first == UInt8(ascii: " ") || bytes.first == UInt8(ascii: "\t") { bytes.removeFirst() }
    while bytes.last == UInt8(ascii: " ") || bytes.last == UInt8(ascii: "\t") { bytes.removeLast() }
    return String(Substring(bytes))
  }
}
