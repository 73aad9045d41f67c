/// Why a body cannot be decoded.
public struct ContentDecodingError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: Sendable, Hashable {
    /// The body ends before its coding does.
    case truncated
    /// The bytes are not valid for the coding.
    case invalid
    /// Other bytes follow the end of the coded data.
    case trailingBytes
    case unknownCoding
    case tooManyCodings
    case noMemory
  }

  public let code: Code
  /// What is wrong, as part of a sentence about the body.
  public let reason: String

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }
}
