package import SluiceMessages

extension HeaderFields {
  /// Adds an `Authorization: Basic` header for the `user:password@` of the URL, unless the request has such a header
  /// (RFC 7617 §2).
  package mutating func addCredentials(of url: HTTPURL) {
    guard let credentials = url.credentials, !contains("Authorization") else { return }
    append("Authorization", credentials.basic, marks: .sensitive)
  }
}
