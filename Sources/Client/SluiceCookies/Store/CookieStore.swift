package import SluiceMessages

/// The cookies of a jar as a value. Decides which cookies are kept, sent and dropped (draft-ietf-httpbis-rfc6265bis-22
/// §5.7, §5.8).
///
/// Has no clock, no lock and no file. Times are seconds since 1970.
package struct CookieStore: Sendable {
  package static let maximumPerDomain = 180
  package static let maximum = 3000

  private var domains: [String: [Cookie]] = [:]
  package private(set) var count = 0
  private var clock: UInt64 = 0

  package init() {}

  /// The cookies in the order of their creation.
  package var cookies: [Cookie] { domains.values.joined().sorted { $0.creation < $1.creation } }

  private mutating func tick() -> UInt64 {
    clock += 1
    return clock
  }

  // MARK: Changes

  /// Adds a cookie (§5.7 steps 23 and 24), and applies the limits. An expired cookie only removes the cookie that it
  /// would replace.
  package mutating func insert(_ cookie: Cookie, now: Int64) {
    var cookie = cookie
    cookie.creation = remove(cookie.key)?.creation ?? tick()
    guard !cookie.isExpired(at: now) else { return }
    cookie.lastAccess = tick()
    domains[cookie.domain, default: []].append(cookie)
    count += 1
    if domains[cookie.domain, default: []].count > Self.maximumPerDomain { shrink(cookie.domain, now) }
    if count > Self.maximum { shrink(now) }
  }

  @discardableResult
  package mutating func remove(_ key: Cookie.Key) -> Cookie? {
    guard let index = domains[key.domain]?.firstIndex(where: { $0.key == key }) else { return nil }
    count -= 1
    let cookie = domains[key.domain]?.remove(at: index)
    if domains[key.domain]?.isEmpty == true { domains[key.domain] = nil }
    return cookie
  }

  package mutating func removeExpired(now: Int64) {
    for cookie in domains.values.joined() where cookie.isExpired(at: now) { remove(cookie.key) }
  }

  /// Drops cookies of a domain that has too many: first expired cookies, then cookies that are also sent over http,
  /// then the others. Within each group, the cookie that was not used for the longest time is dropped first.
  private mutating func shrink(_ domain: String, _ now: Int64) {
    for cookie in domains[domain, default: []] where cookie.isExpired(at: now) { remove(cookie.key) }
    while let cookies = domains[domain], cookies.count > Self.maximumPerDomain {
      let oldest =
        cookies.filter { !$0.isSecure }.min { $0.lastAccess < $1.lastAccess }
        ?? cookies.min { $0.lastAccess < $1.lastAccess }
      guard let oldest else { return }
      remove(oldest.key)
    }
  }

  /// Drops cookies if there are too many in total: first expired cookies, then those that were not used for the longest
  /// time.
  private mutating func shrink(_ now: Int64) {
    removeExpired(now: now)
    while count > Self.maximum {
      guard let oldest = domains.values.joined().min(by: { $0.lastAccess < $1.lastAccess }) else { return }
      remove(oldest.key)
    }
  }

  // MARK: Questions

  /// Whether a cookie that was set over http would hide a cookie with the attribute `Secure` (§5.7 step 16).
  func hidesSecure(_ cookie: Cookie, now: Int64) -> Bool {
    guard !cookie.isSecure else { return false }
    return domains.values.joined().contains { old in
      old.isSecure && old.nameBytes == cookie.nameBytes && !old.isExpired(at: now)
        && (CookieScope.host(old.domain, matches: cookie.domain)
          || CookieScope.host(cookie.domain, matches: old.domain))
        && CookieScope.path(cookie.path, matches: old.path)
    }
  }

  /// The cookies that a request gets, in the order in which they are sent. Longer paths come first; cookies with
  /// equally long paths are in the order of their creation (§5.8.3 steps 1 and 2).
  package func cookies(for url: HTTPURL, now: Int64) -> [Cookie] {
    let host = url.host
    let path = url.path
    let isSecure = url.origin.scheme == .https
    var found: [Cookie] = []
    for domain in CookieScope.domains(of: host) {
      for cookie in domains[String(domain)] ?? []
      where (!cookie.isHostOnly || cookie.domain == host) && (isSecure || !cookie.isSecure)
        && !cookie.isExpired(at: now) && CookieScope.path(path, matches: cookie.path)
      { found.append(cookie) }
    }
    return found.sorted { left, right in
      let (leftCount, rightCount) = (left.path.utf8.count, right.path.utf8.count)
      return leftCount == rightCount ? left.creation < right.creation : leftCount > rightCount
    }
  }

  /// The value of the `Cookie` field; nil without a cookie (§5.8.3 steps 3 and 4).
  package mutating func header(for url: HTTPURL, now: Int64) -> [UInt8]? {
    guard count > 0 else { return nil }
    let cookies = cookies(for: url, now: now)
    guard !cookies.isEmpty else { return nil }
    var text: [UInt8] = []
    for cookie in cookies {
      touch(cookie)
      if !text.isEmpty { text += [CookieBytes.semicolon, UInt8(ascii: " ")] }
      if !cookie.nameBytes.isEmpty { text += cookie.nameBytes + [CookieBytes.equals] }
      text += cookie.valueBytes
    }
    return text
  }

  private mutating func touch(_ cookie: Cookie) {
    guard let index = domains[cookie.domain]?.firstIndex(where: { $0.creation == cookie.creation }) else { return }
    let use = tick()
    domains[cookie.domain]?[index].lastAccess = use
  }
}
