/// A kind of proxy, and how a client reaches it.
package struct ProxyWay: Sendable, CustomStringConvertible {
  package let scheme: String
  package let kind: ProxyServer.Kind
  /// Whether the proxy demands a user and a password.
  package var hasUser = false

  package var description: String { "\(scheme) by \(kind)\(hasUser ? ", with a user" : "")" }

  /// Every scheme that needs no user.
  package static let all = [
    ProxyWay(scheme: "http", kind: .tinyproxy), ProxyWay(scheme: "https", kind: .tinyproxy),
    ProxyWay(scheme: "socks5", kind: .microsocks), ProxyWay(scheme: "socks5h", kind: .microsocks),
  ]

  /// The same ways through proxies that demand a user.
  package static let allWithUser = all.map { ProxyWay(scheme: $0.scheme, kind: $0.kind, hasUser: true) }

  /// Starts the proxy, and returns when it accepts connections. The URL contains the user.
  package func start() async throws -> (server: ProxyServer, url: String) {
    let certificates = scheme == "https" ? try await TestCertificates.shared() : nil
    let server = try await ProxyServer.start(kind, user: hasUser ? ("me", "s3cret") : nil, behindTLS: certificates)
    let user = hasUser ? "me:s3cret@" : ""
    return (server, "\(scheme)://\(user)localhost:\(server.port)")
  }
}
