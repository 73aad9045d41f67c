import SluiceMessages

/// Which hosts and paths a cookie belongs to (draft-ietf-httpbis-rfc6265bis-22 §5.1.3, §5.1.4).
enum CookieScope {
  /// Whether a host, in the form of `HTTPURL.host`, is an address. Unlike an address, a name never contains a colon,
  /// and its last label is never a number.
  static func isAddress(_ host: String) -> Bool {
    host.utf8.contains(UInt8(ascii: ":")) || host.utf8.last.map(CookieBytes.isDigit) == true && hasNumberLast(host)
  }

  private static func hasNumberLast(_ host: String) -> Bool {
    host.utf8.reversed().prefix { $0 != CookieBytes.dot }.allSatisfy(CookieBytes.isDigit)
  }

  /// Whether a host matches a cookie's domain (§5.1.3). Both must be in lower case.
  static func host(_ host: String, matches domain: String) -> Bool {
    if host == domain { return true }
    let (host8, domain8) = (Array(host.utf8), Array(domain.utf8))
    guard !domain8.isEmpty, host8.count > domain8.count, host8[(host8.count - domain8.count)...].elementsEqual(domain8)
    else { return false }
    return host8[host8.count - domain8.count - 1] == CookieBytes.dot && !isAddress(host)
  }

  /// §5.1.4.
  static func path(_ path: String, matches cookiePath: String) -> Bool {
    let (path8, cookiePath8) = (path.utf8, cookiePath.utf8)
    guard path8.starts(with: cookiePath8) else { return false }
    return path8.count == cookiePath8.count || cookiePath8.last == CookieBytes.slash
      || path8.dropFirst(cookiePath8.count).first == CookieBytes.slash
  }

  /// The path before its last slash; `/` if it has only one slash (§5.1.4).
  static func defaultPath(of url: HTTPURL) -> String {
    let path = Array(url.path.utf8)
    guard let slash = path.lastIndex(of: CookieBytes.slash), slash > 0 else { return "/" }
    return String(decoding: path[..<slash], as: UTF8.self)
  }

  /// A host and the domains above it, with the longest first. For an address, only the address.
  static func domains(of host: String) -> [Substring] {
    guard !isAddress(host) else { return [host[...]] }
    var domains: [Substring] = []
    var rest = host[...]
    while true {
      domains.append(rest)
      guard let dot = rest.utf8.firstIndex(of: CookieBytes.dot) else { return domains }
      rest = rest[rest.utf8.index(after: dot)...]
    }
  }
}
