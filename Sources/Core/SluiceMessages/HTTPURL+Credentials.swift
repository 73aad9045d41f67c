extension HTTPURL {
  /// User and password of the URL, percent-decoded; a missing password is empty.
  package var credentials: Credentials? {
    guard let userInfo else { return nil }
    let bytes = Array(userInfo.utf8)
    let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.count
    let (user, password) = (0..<colon, min(colon + 1, bytes.count)..<bytes.count)
    return Credentials(
      user: PercentCoding.decoded(bytes.span.extracting(user)),
      password: PercentCoding.decoded(bytes.span.extracting(password)))
  }

  /// `user:password` in the form of a URL: every character that is not unreserved is percent-encoded (RFC 3986 §2.3,
  /// §3.2.1).
  package static func userInfo(user: String, password: String) -> String {
    userInfo(user: user.utf8.span, password: password.utf8.span)
  }

  /// `user:password` in the form of a URL, made from bytes that need not be UTF-8 (RFC 7617 §2.1 leaves the charset
  /// open).
  package static func userInfo(user: Span<UInt8>, password: Span<UInt8>) -> String {
    PercentCoding.encoded(user) + ":" + PercentCoding.encoded(password)
  }
}
