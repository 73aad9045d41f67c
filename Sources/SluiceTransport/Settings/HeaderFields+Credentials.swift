package import SluiceMessages

extension HeaderFields {
  /// Adds an `Authorization: Basic` header for the `user:password@` of the URL, unless the request has such a header
  /// (RFC 7617 §2).
  package mutating func addCredentials(of url: HTTPURL) {
    guard let userInfo = url.userInfo, !contains("Authorization") else { return }
    let value = "Basic " + String(decoding: Base64.encode(PercentCoding.decoded(userInfo.utf8.span)), as: UTF8.self)
    append("Authorization".utf8.span, value.utf8.span, marks: .sensitive)
  }
}
