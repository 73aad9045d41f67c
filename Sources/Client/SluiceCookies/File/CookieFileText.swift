import SluiceMessages

/// The content of a cookie file, in the form that curl and wget read and write: seven fields with tabs between them.
///
///     DOMAIN  SUBDOMAINS  PATH  SECURE  EXPIRES  NAME  VALUE
///
/// `SUBDOMAINS` and `SECURE` are `TRUE` or `FALSE`, `EXPIRES` is in seconds since 1970, and 0 for a session cookie.
/// `#HttpOnly_` before the domain marks a cookie with the attribute `HttpOnly`. All other lines that begin with `#` are
/// comments. A byte order mark is skipped.
package enum CookieFileText {
  /// An error in a line. Lines are counted from 1.
  package struct Damage: Error, Sendable, Hashable {
    package let line: Int
    package let message: String
  }

  private static let httpOnly = "#HttpOnly_"
  private static let header = """
    # Netscape HTTP Cookie File
    # The names and values of cookies are secrets.

    """

  // MARK: Reading

  /// - Parameters:
  ///   - now: the current time in seconds since 1970, which limits the lifetimes.
  ///   - onDamage: gets each damaged line, which is then left out. It can throw to refuse the whole file.
  package static func read(
    _ bytes: [UInt8], now: Int64, onDamage: (Damage) throws(Damage) -> Void = { damage throws(Damage) in throw damage }
  ) throws(Damage) -> [Cookie] {
    var cookies: [Cookie] = []
    var number = 0
    var rest = bytes.withoutByteOrderMark
    while !rest.isEmpty {
      number += 1
      let end = rest.firstIndex(of: UInt8(ascii: "\n"))
      do throws(Damage) {
        guard let end else {
          throw Damage(line: number, message: "the line has no end, so the file might have been cut off")
        }
        if let cookie = try cookie(rest[..<end], number, now) { cookies.append(cookie) }
      } catch { try onDamage(error) }
      rest = end.map { rest[($0 + 1)...] } ?? []
    }
    return cookies
  }

  /// Returns nil for a comment or an empty line.
  private static func cookie(_ line: ArraySlice<UInt8>, _ number: Int, _ now: Int64) throws(Damage) -> Cookie? {
    func damage(_ message: String) -> Damage { Damage(line: number, message: message) }
    let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    let isHTTPOnly = line.starts(with: httpOnly.utf8)
    if line.isEmpty || line.first == UInt8(ascii: "#") && !isHTTPOnly { return nil }
    guard !line.contains(where: CookieBytes.isControl) else { throw damage("it contains a control character") }
    var fields = (isHTTPOnly ? line.dropFirst(httpOnly.utf8.count) : line)
      .split(separator: CookieBytes.tab, maxSplits: 6, omittingEmptySubsequences: false)
    // Programs that trim lines remove the tab before an empty value.
    if fields.count == 6 { fields.append([]) }
    guard fields.count == 7 else { throw damage("it has \(fields.count) fields and not 7") }
    guard let domain = domain(fields[0]) else { throw damage("field 1 is not a host") }
    guard let withSubdomains = flag(fields[1]) else { throw damage("field 2 is neither TRUE nor FALSE") }
    guard let path = path(fields[2]) else { throw damage("field 3 is not a path") }
    guard let isSecure = flag(fields[3]) else { throw damage("field 4 is neither TRUE nor FALSE") }
    guard let expires = time(fields[4]) else { throw damage("field 5 is not a time") }
    guard isName(fields[5]), isValue(fields[6]), fields[5].count + fields[6].count > 0 else {
      throw damage("fields 6 and 7 are not the name and the value of a cookie")
    }
    guard fields[5].count + fields[6].count <= SetCookie.maximumBytes else {
      throw damage("name and value have more than \(SetCookie.maximumBytes) bytes")
    }
    var cookie = Cookie(name: Array(fields[5]), value: Array(fields[6]), domain: domain, path: path)
    cookie.isHostOnly = !withSubdomains
    cookie.isSecure = isSecure
    cookie.isHTTPOnly = isHTTPOnly
    cookie.expires = expires == 0 ? nil : min(expires, SetCookie.latest(now))
    return cookie
  }

  private static func domain(_ field: ArraySlice<UInt8>) -> String? {
    let name = (field.first == CookieBytes.dot ? field.dropFirst() : field).map(CookieBytes.lowercased)
    let text = String(decoding: name, as: UTF8.self)
    let host = text.utf8.contains(UInt8(ascii: ":")) ? "[\(text)]" : text
    guard let url = try? HTTPURL("http://\(host)/"), url.host == text, url.userInfo == nil else { return nil }
    return text
  }

  private static func path(_ field: ArraySlice<UInt8>) -> String? {
    guard field.first == CookieBytes.slash, field.count <= SetCookie.maximumAttributeBytes,
      !field.contains(CookieBytes.semicolon)
    else { return nil }
    return String(decoding: field, as: UTF8.self)
  }

  private static func flag(_ field: ArraySlice<UInt8>) -> Bool? {
    switch String(decoding: field, as: UTF8.self).uppercased() {
    case "TRUE": true
    case "FALSE": false
    default: nil
    }
  }

  /// Extensions of browsers also write fractions of seconds, and a negative number for a session cookie.
  private static func time(_ field: ArraySlice<UInt8>) -> Int64? {
    let isNegative = field.first == UInt8(ascii: "-")
    let parts = (isNegative ? field.dropFirst() : field)
      .split(separator: CookieBytes.dot, maxSplits: 1, omittingEmptySubsequences: false)
    guard let seconds = parts.first, !seconds.isEmpty, parts.joined().allSatisfy(CookieBytes.isDigit) else {
      return nil
    }
    return isNegative ? 0 : Int64(String(decoding: seconds, as: UTF8.self))
  }

  private static func isName(_ field: ArraySlice<UInt8>) -> Bool {
    isValue(field) && !field.contains(CookieBytes.equals)
  }

  private static func isValue(_ field: ArraySlice<UInt8>) -> Bool {
    !field.contains(CookieBytes.semicolon) && CookieBytes.trimmed(field).count == field.count
  }

  // MARK: Writing

  package static func write(_ cookies: [Cookie]) -> [UInt8] {
    var text = Array(header.utf8)
    for cookie in cookies {
      let start = "\(cookie.isHTTPOnly ? httpOnly : "")\(cookie.isHostOnly ? "" : ".")\(cookie.domain)"
      let flags = "\(flag(!cookie.isHostOnly))\t\(cookie.path)\t\(flag(cookie.isSecure))\t\(cookie.expires ?? 0)"
      text += Array("\(start)\t\(flags)\t".utf8)
      text += cookie.nameBytes + [CookieBytes.tab] + cookie.valueBytes + [UInt8(ascii: "\n")]
    }
    return text
  }

  private static func flag(_ value: Bool) -> String { value ? "TRUE" : "FALSE" }
}
