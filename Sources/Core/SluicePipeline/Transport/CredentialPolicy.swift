/// How the user and password of a URL are used.
public enum CredentialPolicy: Sendable, Hashable {
  /// As Basic (RFC 7617) with the first request, and as Digest if the server asks for it.
  case basicFirst
  /// Only as Digest: the password is never sent.
  case digest
  /// Only after the server has asked. If the server offers Basic and Digest, Digest is used.
  case whenAsked
}
