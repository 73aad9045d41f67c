import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@Suite(.enabled(if: NginxServer.isAvailable)) struct NginxServerTests {
  @Test func `nginx serves the paths of its table`() async throws {
    var configuration = NginxConfiguration()
    configuration.bigFileBytes = 1_000_000
    configuration.accessLogFormat = "$request_method $request_uri $status"
    let server = try await NginxServer.start(configuration)
    let client = try RawClient(port: server.ports.clear)
    #expect(try client.request("GET", "/").bodyText == "ok\n")
    #expect(try client.request("GET", "/json").headers.first("Content-Type") == "application/json")
    #expect(try client.request("POST", "/post", body: "abc").status == 200)
    #expect(try client.request("GET", "/big").body.count == 1_000_000)
    #expect(try client.request("GET", "/status/429").status == 429)
    #expect(try client.request("GET", "/redirect").status == 302)
    let packed = try client.request("GET", "/gzip", headers: ["Accept-Encoding: gzip"])
    #expect(packed.headers.first("Content-Encoding") == "gzip")
    #expect(try server.requestCount() == 8)
    try await server.stop()
    #expect(server.accessLog.first == "GET / 200")
  }

  @Test func `nginx speaks HTTP-2 over TLS with a certificate for localhost`() async throws {
    let certificates = try await TestCertificates.shared()
    let server = try await NginxServer.start(certificates: certificates)
    let result = try await Command.run(
      "openssl",
      ["s_client", "-connect", "127.0.0.1:\(server.ports.tls)", "-alpn", "h2", "-verify_return_error"]
        + ["-verify_hostname", "localhost", "-CAfile", certificates.authority])
    #expect(result.outputText.contains("ALPN protocol: h2"))
    #expect(result.outputText.contains("Verify return code: 0 (ok)"))
  }

  @Test func `nginx has ended when kill returns`() async throws {
    let server = try await NginxServer.start()
    let client = try RawClient(port: server.ports.clear)
    #expect(try client.request().status == 200)
    try await server.kill()
    #expect(throws: TestKitError.self) { try RawClient(port: server.ports.clear) }
  }
}
