/// How user and password of a URL are used.
public enum CredentialPolicy: Sendable, Hashable {
  /// As Basic (RFC 7617) with the first request already, and as Digest where the server asks for it.
  case basicFirst
  /// As Digest alone: they never cross the wire.
  case digest
  /// As whatever the server asks for, Digest before Basic, and nothing before it asks.
  case whenAsked
}
