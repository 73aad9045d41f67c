import CCurl
import Glibc
import SluiceLoop
package import SluiceMessages
package import SluicePipeline

/// Decides which proxy applies to which origin, for name look-ups, messages and the choice of the transport; libcurl
/// itself connects to the proxy.
package struct ProxyChoice: Sendable {
  /// The proxy option for libcurl. If it is nil, libcurl reads the environment for each request.
  let option: String?
  private let http: Route.Key?
  private let https: Route.Key?
  private let plain: String
  private let secure: String
  private let direct: DirectHosts

  /// Reads the settings, and the environment of the process.
  package init(_ settings: TransportSettings) {
    // A Unix socket is used without a proxy.
    let setting = settings.unixSocket == nil ? settings.proxy : ""
    plain = setting ?? Self.environment("http_proxy") ?? Self.environment("all_proxy", "ALL_PROXY") ?? ""
    secure = setting ?? Self.environment("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY") ?? ""
    http = Self.key(plain)
    https = Self.key(secure)
    direct = DirectHosts(Self.environment("no_proxy", "NO_PROXY") ?? "")
    // If there is no proxy, the option is an empty text. Otherwise libcurl would search the environment before each
    // request.
    option = setting ?? (plain.isEmpty && secure.isEmpty ? "" : nil)
  }

  /// Whether a proxy may apply to an origin. With `no_proxy`, libcurl may still not use it.
  func isPossible(for origin: Origin) -> Bool {
    !(origin.scheme == .http ? plain : secure).isEmpty && !direct.contains(origin.host)
  }

  /// Why libcurl cannot use the proxy of an origin, found as libcurl finds it for each request; nil if it can, if there is
  /// no proxy, or if `no_proxy` decides.
  package func fault(for origin: Origin, _ names: SettingNames) -> TransportError? {
    let proxy = origin.scheme == .http ? plain : secure
    guard !proxy.isEmpty, Self.environment("no_proxy", "NO_PROXY") == nil, let url = curl_url() else { return nil }
    defer { curl_url_cleanup(url) }
    let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME)
    let reason: String
    if curl_url_set(url, CURLUPART_URL, proxy, flags) != CURLUE_OK {
      reason = "the URL of the proxy is not valid"
    } else if let scheme = Self.scheme(url), !Self.schemes.contains(scheme) {
      reason =
        "the URL of the proxy has the scheme \(PlainText.quote(scheme)), and libcurl knows http, https, socks4, socks4a, socks5 and socks5h"
    } else {
      return nil
    }
    return TransportError(.proxy, reason + names.proxyAdvice, to: origin, isBeforeSending: true)
  }

  /// The schemes that libcurl knows for a proxy.
  private static let schemes = ["http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h"]

  private static func scheme(_ url: OpaquePointer) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(url, CURLUPART_SCHEME, &text, 0) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text).lowercased()
  }

  /// Whether it is certain that requests go to an HTTP proxy. False if `no_proxy` is set, because libcurl then decides
  /// whether a host is reached through the proxy. Also false for a SOCKS proxy, which does not speak HTTP.
  func isCertain(for scheme: Origin.Scheme) -> Bool { (scheme == .http ? http : https) != nil }

  /// The proxy's host and port, for messages. Nil without a proxy, or if `no_proxy` decides.
  func name(for scheme: Origin.Scheme) -> String? {
    let proxy = scheme == .http ? plain : secure
    guard !proxy.isEmpty, Self.environment("no_proxy", "NO_PROXY") == nil else { return nil }
    let place = proxy.firstRange(of: "://").map { proxy[$0.upperBound...] } ?? proxy[...]
    let authority = place.prefix { $0 != "/" }
    return PlainText.quote(String(authority.split(separator: "@").last ?? authority))
  }

  /// Returns the host and port to connect to, which are the proxy's or the origin's, and whether this module looks the
  /// name up. If a proxy has its own rules for names (SOCKS, `no_proxy`), libcurl's resolver looks the name up instead.
  func target(of origin: Origin) -> (key: Route.Key, needsLookUp: Bool) {
    guard isPossible(for: origin) else {
      return (Route.Key(host: origin.host, port: origin.port), !SystemNames.isAddress(origin.host))
    }
    guard let proxy = origin.scheme == .http ? http : https else {
      return (Route.Key(host: origin.host, port: origin.port), false)
    }
    return (proxy, !SystemNames.isAddress(proxy.host))
  }

  private static func key(_ proxy: String) -> Route.Key? {
    guard !proxy.isEmpty, environment("no_proxy", "NO_PROXY") == nil else { return nil }
    let scheme = proxy.firstRange(of: "://").map { proxy[..<$0.lowerBound].lowercased() } ?? "http"
    guard scheme == "http" || scheme == "https" else { return nil }
    let text = proxy.contains("://") ? proxy : "http://" + proxy
    guard let url = try? HTTPURL(text) else { return nil }
    // Libcurl's default port for a proxy is not 80, but 1080, or 443 over TLS. It is therefore necessary to know
    // whether the text contains a port.
    let authority = text.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" }
    let hasPort = authority.split(separator: "@").last?.split(separator: "]").last?.contains(":") == true
    return Route.Key(host: url.origin.host, port: hasPort ? url.origin.port : scheme == "https" ? 443 : 1080)
  }

  /// The value of the first of these variables that is not empty, as libcurl reads them.
  private static func environment(_ names: String...) -> String? {
    for name in names {
      if let value = getenv(name), value.pointee != 0 { return String(cString: value) }
    }
    return nil
  }
}
