package import SluiceMessages

/// A challenge of the scheme Digest (RFC 7616 §3.3). Its quality of protection is `auth` or, as in RFC 2069, missing.
package struct DigestChallenge: Sendable, Hashable {
  package let realm: String
  package var nonce: String
  let opaque: String?
  let algorithm: DigestAlgorithm
  /// Whether the server offers the quality `auth`; false if it names no quality.
  let hasQuality: Bool
  /// Whether the server has refused the request only because the nonce was too old, and not because of the credentials.
  package let isStale: Bool
  /// Whether the user's name must be sent as a hash (§3.4.4).
  let hashesUser: Bool
  let isUTF8: Bool

  /// Returns nil if the challenge has another scheme, lacks a parameter, or names an unknown algorithm or quality.
  package init?(_ challenge: Challenge) {
    guard challenge.isScheme("digest"), let realm = challenge["realm"], let nonce = challenge["nonce"],
      let algorithm = DigestAlgorithm(challenge["algorithm"] ?? "MD5")
    else { return nil }
    if let qualities = challenge["qop"] {
      let names = qualities.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }).map { $0.lowercased() }
      guard names.contains("auth") else { return nil }
      hasQuality = true
    } else {
      hasQuality = false
    }
    self.realm = realm
    self.nonce = nonce
    self.algorithm = algorithm
    opaque = challenge["opaque"]
    isStale = challenge["stale"]?.lowercased() == "true"
    hashesUser = challenge["userhash"]?.lowercased() == "true"
    isUTF8 = challenge["charset"]?.lowercased() == "utf-8"
  }

  /// The value of the credentials header (§3.4).
  ///
  /// - Parameters:
  ///   - count: the number of requests with this nonce, including this one.
  ///   - clientNonce: a random text, which is the same for all requests with one nonce.
  package func answer(
    _ credentials: Credentials, _ method: String, _ target: String, _ count: UInt32, _ clientNonce: String
  ) -> String? {
    let number = Self.number(count)
    guard let response = response(credentials, method, target, number, clientNonce),
      let user = userParameter(credentials.user)
    else { return nil }
    var parts = [
      user, "realm=\(Self.quoted(realm))", "nonce=\(Self.quoted(nonce))", "uri=\(Self.quoted(target))",
      "response=\"\(response)\"", "algorithm=\(algorithm.name)",
    ]
    if let opaque { parts.append("opaque=\(Self.quoted(opaque))") }
    if hasQuality { parts += ["qop=auth", "nc=\(number)"] }
    // RFC 2617 §3.2.2 forbids a client nonce without a quality, but then no server could verify a session: its hash
    // contains the client nonce (§3.2.2.2). RFC 7616 §3.4 demands the client nonce.
    if hasQuality || algorithm.isSession { parts.append("cnonce=\"\(clientNonce)\"") }
    if hashesUser { parts.append("userhash=true") }
    return "Digest " + parts.joined(separator: ", ")
  }

  private func response(
    _ credentials: Credentials, _ method: String, _ target: String, _ number: String, _ clientNonce: String
  ) -> String? {
    let colon = [UInt8(ascii: ":")]
    guard var first = algorithm.hash(credentials.user + colon + Array(realm.utf8) + colon + credentials.password)
    else { return nil }
    if algorithm.isSession {
      guard let session = algorithm.hash(Array("\(first):\(nonce):\(clientNonce)".utf8)) else { return nil }
      first = session
    }
    guard let second = algorithm.hash(Array("\(method):\(target)".utf8)) else { return nil }
    let middle = hasQuality ? "\(nonce):\(number):\(clientNonce):auth" : nonce
    return algorithm.hash(Array("\(first):\(middle):\(second)".utf8))
  }

  private func userParameter(_ user: [UInt8]) -> String? {
    if hashesUser {
      return algorithm.hash(user + [UInt8(ascii: ":")] + Array(realm.utf8)).map { "username=\"\($0)\"" }
    }
    guard FieldSyntax.isFieldValue(user.span), let text = String(validating: user, as: UTF8.self) else { return nil }
    guard isUTF8, !user.allSatisfy({ $0 < 0x80 }) else { return "username=\(Self.quoted(text))" }
    return "username*=UTF-8''" + HTTPURL.userInfo(user: text, password: "").dropLast()
  }

  /// Eight hexadecimal digits.
  private static func number(_ count: UInt32) -> String {
    let digits = String(count, radix: 16)
    return String(repeating: "0", count: 8 - digits.utf8.count) + digits
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
  }
}
