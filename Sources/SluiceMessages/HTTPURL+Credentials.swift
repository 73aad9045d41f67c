extension HTTPURL {
  /// User and password of the URL with their percent-encoding undone; the password is empty where there is none.
  public var credentials: (user: [UInt8], password: [UInt8])? {
    guard let userInfo else { return nil }
    let bytes = Array(userInfo.utf8)
    let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.count
    let (user, password) = (0..<colon, min(colon + 1, bytes.count)..<bytes.count)
    return (
      PercentCoding.decoded(bytes.span.extracting(user)), PercentCoding.decoded(bytes.span.extracting(password))
    )
  }

  /// `user:password` as a URL takes it: everything that is not unreserved is percent-encoded (RFC 3986 §2.3, §3.2.1).
  public static func userInfo(user: String, password: String) -> String {
    PercentCoding.encoded(user) + ":" + PercentCoding.encoded(password)
  }
}
