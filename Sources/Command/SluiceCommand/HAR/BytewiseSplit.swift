// Compares bytes, not characters. A delimiter and a combining mark behind it are one character, which is not equal to
// the delimiter. If characters were compared, a secret could therefore stay unmasked.
extension StringProtocol {
  /// The parts between delimiters, empty ones too.
  func parts(between delimiter: UInt8) -> [Substring] {
    Substring(self).utf8.split(separator: delimiter, omittingEmptySubsequences: false).map { Substring($0) }
  }

  /// The text before and after the first delimiter; nil if there is no delimiter.
  func parts(around delimiter: UInt8) -> (before: Substring, after: Substring)? {
    let bytes = Substring(self).utf8
    guard let place = bytes.firstIndex(of: delimiter) else { return nil }
    return (Substring(bytes[..<place]), Substring(bytes[place...].dropFirst()))
  }

  /// The text without spaces and tabs at both ends.
  var trimmedBlanks: String {
    var bytes = Substring(self).utf8
    while bytes.first == UInt8(ascii: " ") || bytes.first == UInt8(ascii: "\t") { bytes.removeFirst() }
    while bytes.last == UInt8(ascii: " ") || bytes.last == UInt8(ascii: "\t") { bytes.removeLast() }
    return String(Substring(bytes))
  }
}
