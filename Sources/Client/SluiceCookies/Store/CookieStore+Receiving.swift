package import SluiceMessages

// The handling of `Set-Cookie` fields (draft-ietf-httpbis-rfc6265bis-22 §5.7).
extension CookieStore {
  /// Handles a `Set-Cookie` field of the response from a URL.
  ///
  /// - Returns: the cookie. If it is expired, the server has removed the cookie.
  /// - Throws: why the field was ignored. The store is then unchanged.
  @discardableResult
  package mutating func receive(
    _ field: ArraySlice<UInt8>, from url: HTTPURL, suffixes: PublicSuffixes, now: Int64
  ) throws(CookieRefusal) -> Cookie {
    let set = try SetCookie(field, now: now)
    let cookie = try Self.cookie(set, url, suffixes)
    // Step 13.
    guard url.origin.scheme == .https || !cookie.isSecure else { throw .secureOverHTTP }
    // Step 16.
    guard url.origin.scheme == .https || !hidesSecure(cookie, now: now) else { throw .hidesSecure }
    try Self.checkMarks(of: cookie, hasPath: set.hasPath)
    insert(cookie, now: now)
    return cookie
  }

  private static func cookie(
    _ set: SetCookie, _ url: HTTPURL, _ suffixes: PublicSuffixes
  ) throws(CookieRefusal) -> Cookie {
    // Step 2.
    guard !set.name.isEmpty || !set.value.isEmpty else { throw .empty }
    let path = set.path.map { String(decoding: $0, as: UTF8.self) } ?? CookieScope.defaultPath(of: url)
    guard !set.name.contains(CookieBytes.tab), !path.utf8.contains(CookieBytes.tab) else { throw .tab }
    let domain = try domain(set.domain, url.host, suffixes)
    var cookie = Cookie(name: set.name, value: set.value, domain: domain ?? url.host, path: path)
    cookie.isHostOnly = domain == nil
    cookie.isSecure = set.isSecure
    cookie.isHTTPOnly = set.isHTTPOnly
    cookie.sameSite = set.sameSite
    cookie.expires = set.expires
    return cookie
  }

  /// Steps 7 to 10: the domain of the cookie; nil if only the host gets it.
  private static func domain(
    _ attribute: [UInt8], _ host: String, _ suffixes: PublicSuffixes
  ) throws(CookieRefusal) -> String? {
    guard !attribute.isEmpty else { return nil }
    guard attribute.allSatisfy({ $0 < 0x80 }) else { throw .domainNotASCII }
    let domain = String(decoding: attribute, as: UTF8.self)
    // An address has no hosts below it.
    if domain == host, CookieScope.isAddress(host) { return nil }
    guard CookieScope.host(host, matches: domain) else { throw .otherHost }
    guard suffixes.contains(domain) else { return domain }
    guard domain == host else { throw .publicSuffix }
    return nil
  }

  /// Checks the rules of steps 19 to 22.
  private static func checkMarks(of cookie: Cookie, hasPath: Bool) throws(CookieRefusal) {
    guard cookie.sameSite != .none || cookie.isSecure else { throw .crossSiteNotSecure }
    guard keepsSecurePrefix(cookie) else { throw .securePrefix }
    guard keepsHostPrefix(cookie), hasPath || !hasHostPrefix(cookie.nameBytes) else { throw .hostPrefix }
    guard keepsNamelessRule(cookie) else { throw .namelessPrefix }
  }

  /// Whether a cookie follows the rules about prefixes (steps 20 to 22) and public suffixes. This is used for cookies
  /// that do not come from a response.
  package static func keepsRules(_ cookie: Cookie, _ suffixes: PublicSuffixes) -> Bool {
    keepsSecurePrefix(cookie) && keepsHostPrefix(cookie) && keepsNamelessRule(cookie)
      && (cookie.isHostOnly || !CookieScope.isAddress(cookie.domain) && !suffixes.contains(cookie.domain))
  }

  private static func keepsSecurePrefix(_ cookie: Cookie) -> Bool {
    cookie.isSecure || !CookieBytes.begins(cookie.nameBytes, withLowercase: "__secure-")
  }

  private static func keepsHostPrefix(_ cookie: Cookie) -> Bool {
    !hasHostPrefix(cookie.nameBytes) || cookie.isSecure && cookie.isHostOnly && cookie.path == "/"
  }

  private static func hasHostPrefix(_ name: [UInt8]) -> Bool { CookieBytes.begins(name, withLowercase: "__host-") }

  private static func keepsNamelessRule(_ cookie: Cookie) -> Bool {
    !cookie.nameBytes.isEmpty
      || !CookieBytes.begins(cookie.valueBytes, withLowercase: "__secure-") && !hasHostPrefix(cookie.valueBytes)
  }
}
