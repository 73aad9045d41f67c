import SluiceLoop
import SluiceMessages
import SluicePipeline

/// A proxy, and how to talk to it.
struct Proxy: Hashable, Sendable {
  enum Kind: String, Sendable {
    /// HTTP, in clear text or over TLS. Requests to `http:` URLs are sent to it with the whole URL (RFC 9112 §3.2.2);
    /// for all others it opens a tunnel (CONNECT, RFC 9110 §9.3.6).
    case http, https
    /// SOCKS 4 gets an IPv4 address, and SOCKS 4a the name.
    case socks4, socks4a
    /// SOCKS 5 (RFC 1928). This side looks up the name for `socks5`, and the proxy for `socks5h`.
    case socks5, socks5h
  }

  let kind: Kind
  let place: SocketSettings.Place
  let credentials: Credentials?

  var isHTTP: Bool { kind == .http || kind == .https }
  /// Whether this side looks up the names of servers.
  var needsAddress: Bool { kind == .socks4 || kind == .socks5 }

  /// Host and port in quotation marks, for messages. It does not contain the password.
  var name: String { PlainText.quote(place.authority) }

  /// Reads the URL of a proxy as curl does: without a scheme it is an HTTP proxy, and without a port the port is 1080,
  /// or 443 for `https`.
  init(_ text: String) throws(ProxyFault) {
    let parts = text.firstRange(of: "://").map { (String(text[..<$0.lowerBound]).lowercased(), text[$0.upperBound...]) }
    let scheme = parts?.0 ?? "http"
    guard let kind = scheme == "socks" ? .socks4 : Kind(rawValue: scheme) else {
      throw ProxyFault(
        reason: "the URL of the proxy has the scheme \(PlainText.quote(scheme)), and the known schemes are http, https,"
          + " socks4, socks4a, socks5 and socks5h")
    }
    let rest = parts?.1 ?? text[...]
    guard let url = try? HTTPURL("http://" + rest) else {
      throw ProxyFault(reason: "the URL of the proxy is not valid")
    }
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let hasPort = authority.split(separator: "@").last?.split(separator: "]").last?.contains(":") == true
    let origin = url.origin
    self.kind = kind
    place = SocketSettings.Place(
      host: origin.lookUpName, port: hasPort ? origin.port : kind == .https ? 443 : 1080)
    credentials = url.credentials
    let isTooLong = [credentials?.user, credentials?.password].contains { ($0?.count ?? 0) > 255 }
    guard isHTTP || !isTooLong else {
      throw ProxyFault(reason: "the user or the password of the proxy has more than the 255 bytes that SOCKS allows")
    }
    guard credentials?.user.contains(0) != true || kind != .socks4 && kind != .socks4a else {
      throw ProxyFault(reason: "the user of the proxy contains a NUL")
    }
  }
}

/// Why a proxy cannot be used.
struct ProxyFault: Error, Sendable {
  let reason: String
}

extension SocketSettings.Place {
  /// Host and port as in a URL: `example.com:443`, `[::1]:443`.
  var authority: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
