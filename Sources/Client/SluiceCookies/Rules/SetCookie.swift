/// A parsed `Set-Cookie` field (draft-ietf-httpbis-rfc6265bis-22 §5.6). Rules that depend on the request are checked
/// later.
package struct SetCookie: Sendable, Hashable {
  /// The limit for name and value together, in bytes (§5.6 step 5).
  package static let maximumBytes = 4096
  /// The limit for the value of an attribute, in bytes; an attribute with a longer value is ignored (§5.6, attributes,
  /// step 6).
  package static let maximumAttributeBytes = 1024
  /// The longest lifetime of a cookie: 400 days, in seconds (§5.5).
  package static let maximumAge: Int64 = 400 * 86_400
  /// The expiry of a cookie that is to be removed.
  static let past = Int64.min

  package private(set) var name: [UInt8] = []
  package private(set) var value: [UInt8] = []
  /// The expiry according to `Max-Age`, in seconds since 1970.
  private var maximumAgeEnd: Int64?
  /// The expiry according to `Expires`, in seconds since 1970.
  private var expiresEnd: Int64?
  /// The domain in lower case, without a leading dot; empty if there is no `Domain` attribute.
  package private(set) var domain: [UInt8] = []
  /// Nil if the default path applies.
  package private(set) var path: [UInt8]?
  package private(set) var hasPath = false
  package private(set) var isSecure = false
  package private(set) var isHTTPOnly = false
  package private(set) var sameSite = Cookie.SameSite.unspecified

  /// When the cookie expires. `Max-Age` takes precedence over `Expires` (§5.7 step 6).
  package var expires: Int64? { maximumAgeEnd ?? expiresEnd }

  /// - Parameter now: in seconds since 1970.
  /// - Throws: why the whole field is ignored.
  package init(_ field: ArraySlice<UInt8>, now: Int64) throws(CookieRefusal) {
    guard !field.contains(where: CookieBytes.isControl) else { throw .controlCharacter }
    let pair = field.prefix { $0 != CookieBytes.semicolon }
    if let equals = pair.firstIndex(of: CookieBytes.equals) {
      name = Array(CookieBytes.trimmed(pair[..<equals]))
      value = Array(CookieBytes.trimmed(pair[(equals + 1)...]))
    } else {
      value = Array(CookieBytes.trimmed(pair))
    }
    guard name.count + value.count <= Self.maximumBytes else { throw .tooLong }
    for attribute in field[pair.endIndex...].split(separator: CookieBytes.semicolon) { take(attribute, now) }
  }

  /// §5.6, attributes, steps 4 to 7.
  private mutating func take(_ attribute: ArraySlice<UInt8>, _ now: Int64) {
    let end = attribute.firstIndex(of: CookieBytes.equals) ?? attribute.endIndex
    let name = CookieBytes.trimmed(attribute[..<end])
    let value = CookieBytes.trimmed(end < attribute.endIndex ? attribute[(end + 1)...] : [])
    guard value.count <= Self.maximumAttributeBytes else { return }
    switch String(decoding: name.map(CookieBytes.lowercased), as: UTF8.self) {
    case "expires": takeExpires(value, now)
    case "max-age": takeMaximumAge(value, now)
    case "domain": domain = (value.first == CookieBytes.dot ? value.dropFirst() : value).map(CookieBytes.lowercased)
    case "path":
      hasPath = true
      path = value.first == CookieBytes.slash ? Array(value) : nil
    case "secure": isSecure = true
    case "httponly": isHTTPOnly = true
    case "samesite": sameSite = Self.sameSite(value)
    default: break
    }
  }

  /// §5.6.1.
  private mutating func takeExpires(_ value: ArraySlice<UInt8>, _ now: Int64) {
    guard let seconds = CookieDate.seconds(value) else { return }
    expiresEnd = min(seconds, Self.latest(now))
  }

  /// §5.6.2. A number that needs more than 64 bits counts as the largest number.
  private mutating func takeMaximumAge(_ value: ArraySlice<UInt8>, _ now: Int64) {
    let isNegative = value.first == UInt8(ascii: "-")
    let digits = isNegative ? value.dropFirst() : value
    guard !digits.isEmpty, digits.allSatisfy(CookieBytes.isDigit) else { return }
    let age = Int64(String(decoding: digits, as: UTF8.self)) ?? .max
    guard !isNegative, age > 0 else { return maximumAgeEnd = Self.past }
    maximumAgeEnd = now + min(age, Self.maximumAge)
  }

  static func latest(_ now: Int64) -> Int64 { now + maximumAge }

  /// §5.6.7.
  private static func sameSite(_ value: ArraySlice<UInt8>) -> Cookie.SameSite {
    let known: [Cookie.SameSite] = [.strict, .lax, .none]
    return known.first { CookieBytes.equal(value, lowercase: $0.rawValue.lowercased()) } ?? .unspecified
  }
}
