/// A user and a password. The bytes need not be UTF-8, because RFC 7617 §2.1 leaves the charset open.
package struct Credentials: Sendable, Hashable {
  package var user: [UInt8]
  package var password: [UInt8]

  package init(user: [UInt8], password: [UInt8]) {
    self.user = user
    self.password = password
  }

  /// The value of `Authorization` for Basic. It always has a colon, also before an empty password (RFC 7617 §2).
  ///
  /// A server takes the first colon for the end of the user, so a user with a colon is another user to it.
  package var basic: String {
    "Basic " + String(decoding: Base64.encode(user + [UInt8(ascii: ":")] + password), as: UTF8.self)
  }
}
