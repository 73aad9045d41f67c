import Glibc
import Sluice
import SluiceAssembly
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceGateway

/// The facts that a plugin gets about the client of a gateway (`sluice.client/1`).
@Suite struct ClientFactsTests {
  private static let answer = [ScriptStep.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]

  private static func configuration(_ product: PluginCompiler.Product) throws -> Configuration {
    chmod(product.path, 0o755)
    let text = """
      {"plugins": {"stage": {"library": "\(product.path)"}},
       "request": ["stage"], "issue": ["stage"], "response": ["stage"], "tracers": ["stage"]}
      """
    return try Configuration(text: Array(text.utf8))
  }

  @Test func `over HTTP/1, every call gets addresses, version and whether the connection was used before`() async throws
  {
    let product = try await PluginCompiler.compile("tells-clients")
    let configuration = try Self.configuration(product)
    let upstream = try ScriptedServer { _, _ in Self.answer }
    let log = Watched<[String]>([])
    let fixture = try GatewayFixture(
      to: upstream.baseURL, { $0 = configuration }, log: { line in log.update { $0.append(line.message) } })
    let client = try fixture.client()
    #expect(try client.request().status == 200)
    #expect(try client.request().status == 200)
    try client.send("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
    #expect(try client.readResponse().status == 200)
    #expect(await fixture.end())
    let address = "peer 127.0.0.1 local 127.0.0.1:\(fixture.gateway.endpoint.port)  name  der 0 00"
    for call in ["request", "issue", "response", "complete"] {
      #expect(
        log.value.filter { $0.hasPrefix("\(call)=") } == [
          "\(call)=version 11 reused 1 secure 1 \(address)", "\(call)=version 11 reused 2 secure 1 \(address)",
          "\(call)=version 10 reused 2 secure 1 \(address)",
        ])
    }
    withExtendedLifetime(product) {}
  }

  @Test func `over TLS, the name, the version and the certificate of the client are known`() async throws {
    let product = try await PluginCompiler.compile("tells-clients")
    let configuration = try Self.configuration(product)
    let certificates = try await TestCertificates.shared()
    let upstream = try ScriptedServer { _, _ in Self.answer }
    let log = Watched<[String]>([])
    let fixture = try GatewayFixture(
      to: upstream.baseURL, on: GatewayTLSTests.listener(certificates, clients: .certificate), { $0 = configuration },
      log: { line in log.update { $0.append(line.message) } })
    for kind in [GatewayTLSTests.Kind.http1, .http2] {
      let client = try GatewayTLSTests.client(kind, certificates, certificates.client)
      #expect(try await client.perform(Request(url: try GatewayTLSTests.url(fixture, kind, "/"))).status == 200)
      await client.shutdown()
    }
    #expect(await fixture.end())
    try await Command.check(
      "openssl", ["x509", "-in", certificates.client.certificate, "-outform", "DER", "-out", product.path + ".der"])
    let encoded = try FileTree.read(product.path + ".der")
    let last = String(encoded.last ?? 0, radix: 16)
    let ending = "name localhost der \(encoded.count) \(last.count == 1 ? "0" : "")\(last)"
    let told = log.value.filter { $0.hasPrefix("request=") }
    #expect(told.map { String($0.dropFirst(8).prefix(10)) } == ["version 11", "version 20"])
    for line in told { #expect(line.contains(" secure 2 ") && line.hasSuffix(" TLSv1.3 \(ending)"), "\(line)") }
    withExtendedLifetime(product) {}
  }

  @Test func `a request of this process has no client`() async throws {
    let product = try await PluginCompiler.compile("tells-clients")
    let server = try ScriptedServer { _, _ in Self.answer }
    let log = Watched<[String]>([])
    let engine = try Engine(try Self.configuration(product), log: { line in log.update { $0.append(line.message) } })
    #expect(await engine.transaction(Request(url: try HTTPURL(server.baseURL))).error == nil)
    await engine.shutdown()
    // SLUICE_STATUS_ABSENT
    #expect(log.value.filter { $0.hasPrefix("request=") || $0.hasPrefix("complete=") } == ["request=1", "complete=1"])
    withExtendedLifetime(product) {}
  }
}
