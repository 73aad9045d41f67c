import Glibc
import SluiceMessages
package import SluicePipeline

/// Decides which proxy carries the requests to which origin.
///
/// The settings decide, otherwise the environment: `http_proxy` (only in lower case, because a CGI server sets the
/// other spelling from a header), `https_proxy`, `all_proxy` and `no_proxy`.
package struct ProxyRules: Sendable {
  private enum Choice: Sendable {
    case none
    case proxy(Proxy)
    case fault(ProxyFault)

    init(_ text: String) {
      guard !text.isEmpty else {
        self = .none
        return
      }
      do throws(ProxyFault) { self = .proxy(try Proxy(text)) } catch { self = .fault(error) }
    }

    var isNone: Bool { if case .none = self { true } else { false } }
  }

  private let http: Choice
  private let https: Choice
  private let direct: DirectHosts

  /// Reads the settings, and the environment of the process.
  package init(_ settings: TransportSettings) {
    // A Unix socket is used without a proxy.
    let setting = settings.unixSocket == nil ? settings.proxy : ""
    http = Choice(setting ?? Self.environment("http_proxy") ?? Self.environment("all_proxy", "ALL_PROXY") ?? "")
    https = Choice(setting ?? Self.environment("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY") ?? "")
    direct = DirectHosts(Self.environment("no_proxy", "NO_PROXY") ?? "")
  }

  /// Whether some origin may have a proxy.
  var isPossible: Bool { !(http.isNone && https.isNone) && !direct.containsAll }

  /// Returns the proxy for requests to an origin, or nil if they need none.
  func proxy(for origin: Origin) -> Proxy? {
    guard isPossible, case .proxy(let proxy) = choice(for: origin), !direct.contains(origin) else { return nil }
    return proxy
  }

  /// Returns an error if the proxy for an origin cannot be used.
  func fault(for origin: Origin, _ names: SettingNames) -> TransportError? {
    guard isPossible, case .fault(let fault) = choice(for: origin), !direct.contains(origin) else { return nil }
    return TransportError(.proxy, fault.reason + names.proxyAdvice, to: origin, isBeforeSending: true)
  }

  private func choice(for origin: Origin) -> Choice { origin.scheme == .http ? http : https }

  /// The value of the first of these variables that is not empty.
  package static func environment(_ names: String...) -> String? {
    for name in names {
      if let value = getenv(name), value.pointee != 0 { return String(cString: value) }
    }
    return nil
  }
}
