import CSluice

/// A message of an exchange.
enum MessageSide: UInt32, Sendable {
  case request = 0
  case response = 1
}

/// The purpose of a document.
public enum DocumentAccess: Sendable {
  /// A view; do not change it: changes are lost, or other stages see them.
  case reading
  /// The document becomes authoritative: changes in it are sent.
  case writing

  var flag: UInt32 {
    switch self {
    case .reading: UInt32(SLUICE_JSON_READ)
    case .writing: UInt32(SLUICE_JSON_WRITE)
    }
  }
}

/// The file of a large body, only for reading, and only during the call.
public struct BodyFile: Hashable, Sendable {
  /// The path in the file system. Do not change or remove the file.
  public let path: String
  /// The size of the body in bytes.
  public let byteCount: UInt64
}
