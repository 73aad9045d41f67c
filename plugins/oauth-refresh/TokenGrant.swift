import SluicePlugin

/// The answer of the token endpoint (RFC 6749 §5.1).
struct TokenGrant: Sendable {
  var accessToken: String
  /// Nil if the endpoint does not give it.
  var lifetime: Duration?
  /// The refresh token that replaces the previous one; nil if the previous one stays valid.
  var refreshToken: String?

  /// Why an answer is invalid; it does not show the answer's content.
  struct Malformed: Error {
    var reason: String
  }

  init(accessToken: String, lifetime: Duration?, refreshToken: String?) {
    self.accessToken = accessToken
    self.lifetime = lifetime
    self.refreshToken = refreshToken
  }

  init(_ answer: CallResponse) throws(Malformed) {
    let document = try Self.document(answer)
    guard let token = document["access_token"]?.string else { throw Malformed(reason: "without \"access_token\"") }
    guard Self.isVisible(token) else {
      throw Malformed(reason: "with an \"access_token\" that is empty or has characters other than visible ASCII")
    }
    if let type = document["token_type"], type.string?.lowercased() != "bearer" {
      throw Malformed(reason: "with a \"token_type\" other than Bearer, which is the only one this plugin uses")
    }
    accessToken = token
    lifetime = try Self.lifetime(document["expires_in"])
    if let token = document["refresh_token"]?.string {
      guard Self.isVisible(token) else {
        throw Malformed(reason: "with a \"refresh_token\" that is empty or has characters other than visible ASCII")
      }
      refreshToken = token
    }
  }

  private static func document(_ answer: CallResponse) throws(Malformed) -> JSONValue {
    guard !answer.body.isEmpty else { throw Malformed(reason: "with an empty body") }
    do throws(JSONError) {
      let document = try answer.document()
      if document.isObject { return document }
    } catch {
      if error.code == .numberOutOfRange { throw Malformed(reason: "with a number that is too large for a double") }
    }
    throw Malformed(reason: "with \(answer.body.count) bytes that are not a JSON object")
  }

  /// The lifetime in seconds, which some servers write as a string.
  private static func lifetime(_ value: JSONValue?) throws(Malformed) -> Duration? {
    guard let value, !value.isNull else { return nil }
    guard let seconds = value.number ?? value.string.flatMap(Double.init), seconds.isFinite else {
      throw Malformed(reason: "with an \"expires_in\" that is not a number of seconds")
    }
    // The limit is a hundred years.
    return .seconds(min(max(0, seconds), 3_155_760_000))
  }

  /// Whether the token fits into a header, in which a line break would end the field.
  private static func isVisible(_ token: String) -> Bool {
    !token.isEmpty && token.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }
}
