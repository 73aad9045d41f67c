@testable import SluiceAttachRules

extension LineText {
  /// Each of the lines as text.
  var texts: [String] {
    bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { String(decoding: $0, as: UTF8.self) }
  }
}
