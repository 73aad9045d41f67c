package import SluiceMessages

/// A proxy, and how to talk to it.
package struct Proxy: Hashable, Sendable {
  package enum Kind: String, Sendable {
    /// HTTP, in clear text or over TLS. Requests to `http:` URLs are sent to it with the whole URL (RFC 9112 §3.2.2);
    /// for all others it opens a tunnel (CONNECT, RFC 9110 §9.3.6).
    case http, https
    /// SOCKS 4 gets an IPv4 address, and SOCKS 4a the name.
    case socks4, socks4a
    /// SOCKS 5 (RFC 1928). This side looks up the name for `socks5`, and the proxy for `socks5h`.
    case socks5, socks5h
  }

  package let kind: Kind
  package let place: SocketSettings.Place
  package let credentials: Credentials?

  package var isHTTP: Bool { kind == .http || kind == .https }
  /// Whether this side looks up the names of servers.
  package var needsAddress: Bool { kind == .socks4 || kind == .socks5 }

  /// Host and port in quotation marks, for messages. It does not contain the password.
  package var name: String { PlainText.quote(place.authority) }

  /// Reads the URL of a proxy: without a scheme it is an HTTP proxy, and without a port the port is 1080, or 443 for
  /// `https`, as with curl.
  ///
  /// - Throws: a reason that contains neither the user nor the password.
  package init(_ text: String) throws(ProxyFault) {
    let parts = text.firstRange(of: "://").map { (String(text[..<$0.lowerBound]).lowercased(), text[$0.upperBound...]) }
    let scheme = parts?.0 ?? "http"
    guard let kind = scheme == "socks" ? .socks4 : Kind(rawValue: scheme) else {
      throw ProxyFault(
        reason: "the URL of the proxy has the scheme \(PlainText.quote(scheme)), and the known schemes are http, https,"
          + " socks4 (or socks), socks4a, socks5 and socks5h")
    }
    let address = try Self.address(parts?.1 ?? text[...])
    guard let url = try? HTTPURL("http://" + address.text) else {
      throw Self.fault("its user, password, host or port is not valid; percent-encode other characters")
    }
    let origin = url.origin
    self.kind = kind
    place = SocketSettings.Place(
      host: origin.lookUpName, port: address.hasPort ? origin.port : kind == .https ? 443 : 1080)
    credentials = url.credentials
    try checkCredentials()
  }

  private func checkCredentials() throws(ProxyFault) {
    guard let credentials else { return }
    switch kind {
    case .http, .https: break
    case .socks4, .socks4a:
      guard !credentials.user.contains(0) else { throw ProxyFault(reason: "the user of the proxy contains a NUL") }
    case .socks5, .socks5h:
      guard max(credentials.user.count, credentials.password.count) <= 255 else {
        throw ProxyFault(
          reason: "the user or the password of the proxy has more than the 255 bytes that SOCKS 5 allows")
      }
    }
  }

  /// Checks the part of the URL after the scheme, and returns it without a path and an empty port.
  private static func address(_ rest: Substring) throws(ProxyFault) -> (text: String, hasPort: Bool) {
    guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw fault("it contains a blank, a control character or a character that is not ASCII; percent-encode it")
    }
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard authority.endIndex == rest.endIndex || rest[authority.endIndex...] == "/" else {
      throw fault(
        "something follows its host and port; in a user or password, write %2F for /, %3F for ? and %23 for #")
    }
    let halves = authority.split(separator: "@", omittingEmptySubsequences: false)
    guard halves.count <= 2 else { throw fault("it has more than one @; in a user or password, write %40 for @") }
    let place = halves.last ?? ""
    let afterHost = place.hasPrefix("[") ? place.drop { $0 != "]" }.dropFirst() : place.drop { $0 != ":" }
    guard place.hasPrefix("[") || afterHost.dropFirst().firstIndex(of: ":") == nil else {
      throw fault("it has more than one colon; write an IPv6 address in brackets")
    }
    guard !place.isEmpty, afterHost.startIndex != place.startIndex else { throw fault("it names no host") }
    guard afterHost.isEmpty || afterHost.hasPrefix(":") else {
      throw fault("something follows the bracket of its host")
    }
    let port = afterHost.dropFirst()
    guard !port.isEmpty else { return (String(authority.dropLast(afterHost.count)), false) }
    guard port.allSatisfy({ ("0"..."9").contains($0) }), let number = UInt16(port), number > 0 else {
      throw fault("its port is not a number from 1 to 65535")
    }
    return (String(authority), true)
  }

  private static func fault(_ reason: String) -> ProxyFault {
    ProxyFault(reason: "the URL of the proxy is not valid: \(reason)")
  }
}

/// Why a proxy cannot be used.
package struct ProxyFault: Error, Sendable {
  package let reason: String

  package init(reason: String) { self.reason = reason }
}

extension SocketSettings.Place {
  /// Host and port as in a URL: `example.com:443`, `[::1]:443`.
  package var authority: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension Challenge {
  /// What a proxy demands with a 407 response, and what to do about it.
  package static func proxyDemand(_ challenges: [Challenge]) -> String {
    let schemes = challenges.map(\.scheme)
    guard schemes.isEmpty || schemes.contains(where: { ["basic", "digest"].contains($0.lowercased()) }) else {
      return "it demands \(schemes.map { PlainText.line($0, limitBytes: 40) }.joined(separator: " or ")), and Sluice"
        + " knows only Basic and Digest"
    }
    return "it demands a user and a password; check those in its URL"
  }
}
