import CSluice

/// Which message of an exchange.
enum MessageSide: UInt32, Sendable {
  case request = 0
  case response = 1
}

/// What a document is asked for.
public enum DocumentAccess: Sendable {
  /// A view; changes to it are lost or seen by others, so make none.
  case reading
  /// The document becomes the truth: what is changed in it goes out.
  case writing

  var flag: UInt32 {
    switch self {
    case .reading: UInt32(SLUICE_JSON_READ)
    case .writing: UInt32(SLUICE_JSON_WRITE)
    }
  }
}

/// A file that a large body lies in, to be read only, and only during the call.
public struct BodyFile: Hashable, Sendable {
  public let path: String
  public let byteCount: UInt64
}
