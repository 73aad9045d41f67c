/// Why a body does not decode.
public struct ContentDecodingError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: Sendable, Hashable {
    /// The body ends before its coding does.
    case truncated
    /// The bytes are not what the coding asks for.
    case invalid
    /// Something follows the end of the coded data.
    case trailingBytes
    case unknownCoding
    case tooManyCodings
    case noMemory
  }

  public let code: Code
  /// What is wrong, as the part of a sentence about the body.
  public let reason: String

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }
}
