/// The SHA-256 of a library's bytes. It identifies the build, independent of path, inode or age.
public struct ContentHash: Hashable, Sendable, CustomStringConvertible {
  /// 64 lower-case hex digits.
  public let hex: String

  /// Reads a hash; nil if the text is not 64 hex digits, in lower or upper case.
  package init?(hex text: String) {
    let digits = text.lowercased()
    guard digits.utf8.count == 64, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
    hex = digits
  }

  /// The same as ``hex``.
  public var description: String { hex }
}
