import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// Runs curl and `sluice send` through real proxies with the same arguments. Output and exit status must be the same.
@Suite(.enabled(if: CurlCommand.path != nil && ProxyServer.areAvailable)) struct CurlProxyComparisonTests {
  @Test func `curl and send do the same through a proxy`() async throws {
    let certificates = try await TestCertificates.shared()
    let server = try await NginxServer.start(NginxConfiguration(), certificates: certificates)
    let http = try await ProxyServer.start(.tinyproxy)
    let withUser = try await ProxyServer.start(.tinyproxy, user: ("me", "secret"))
    let socks = try await ProxyServer.start(.microsocks)
    let socksWithUser = try await ProxyServer.start(.microsocks, user: ("me", "secret"))
    let closed = try Loopback.freePort()
    let proxies = [
      "http://127.0.0.1:\(http.port)", "http://me:secret@127.0.0.1:\(withUser.port)",
      "http://me:wrong@127.0.0.1:\(withUser.port)", "http://127.0.0.1:\(withUser.port)",
      "https://127.0.0.1:\(server.ports.clear)", "http://127.0.0.1:\(closed)",
      "http://proxy.invalid:3128", "socks5://127.0.0.1:\(socks.port)", "socks5h://127.0.0.1:\(socks.port)",
      "socks5://me:secret@127.0.0.1:\(socksWithUser.port)", "socks5h://me:wrong@127.0.0.1:\(socksWithUser.port)",
      "socks5://127.0.0.1:\(socksWithUser.port)", "socks4://127.0.0.1:\(socks.port)",
      "socks5h://127.0.0.1:\(closed)",
    ]
    for proxy in proxies {
      // The last URL has no server behind the proxy.
      for url in [server.baseURL, server.secureBaseURL, "https://127.0.0.1:\(closed)/"] {
        let words = "--cacert \(certificates.authority) -x \(proxy) \(url)"
        let curl = try await Self.run("\(CurlCommand.path ?? "curl") -sS -m 60 --fail-with-body \(words)")
        let send = try await Self.run("\(Tool.path) send -m 60 \(words)")
        #expect(send.outputText == curl.outputText, "\(words)")
        #expect(send.status == curl.status, "\(words): \(curl.errorText)\(send.errorText)")
      }
    }
    try await server.stop()
  }

  private static func run(_ command: String) async throws -> CommandResult {
    try await Command.run("sh", ["-c", "exec \(command)"], environment: Tool.cleared)
  }
}
