/// Why a body cannot be decoded.
package struct ContentDecodingError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Code: Sendable, Hashable {
    /// The body ends in the middle of the coded data.
    case truncated
    /// The bytes are not valid for the coding.
    case invalid
    /// More bytes follow the end of the coded data.
    case trailingBytes
    case unknownCoding
    case tooManyCodings
    case noMemory
  }

  package let code: Code
  /// What is wrong. The text is meant to continue a sentence about the body.
  package let reason: String

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  package var description: String { reason }
}
