import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestServers
import Testing

@testable import SluiceTransport

/// Hops with their own connection pool, because a delegate of the call chooses the client certificate.
@Suite(.enabled(if: NginxServer.isAvailable)) struct OwnPoolTests {
  private static let policy = HandshakePolicy(
    HandshakePolicy.Scope(client: 1, isOfCall: true), decidesTrust: false, choosesCertificate: true,
    choosesForCall: true)

  private static func options(_ policy: HandshakePolicy? = policy) -> TransferOptions {
    var options = TransferOptions()
    options.handshake = policy
    return options
  }

  private func settings() async throws -> TransportSettings {
    var settings = TransportSettings.patient
    settings.tls.ca = try await TestCertificates.shared().authority
    return settings
  }

  /// Waits until the transport has removed all pools and closed their connections.
  private func waitUntilForgotten(_ wire: Wire) async {
    await wire.turn { [wire] in wire.transport.pools.isEmpty }
  }

  @Test(arguments: [HTTPVersion.http11, .http2])
  func `a hop's own pool is removed when its connection closes`(_ version: HTTPVersion) async throws {
    let nginx = try await NginxServer.start(certificates: TestCertificates.shared())
    var settings = try await settings()
    settings.httpVersion = version
    let wire = try Wire(settings)
    for _ in 0..<20 {
      let request = Request(url: try HTTPURL(nginx.secureBaseURL + "/"))
      #expect(try await wire.send(request, options: Self.options()).head?.status == 200)
    }
    await waitUntilForgotten(wire)
  }

  @Test func `a hop's own pool is removed after a failed handshake`() async throws {
    let server = try ScriptedServer((0..<5).map { _ in [.send("not TLS at all\r\n"), .receiveToEnd] })
    let wire = try Wire(try await settings())
    for _ in 0..<5 {
      let request = Request(url: try HTTPURL(server.baseURL.replacing("http:", with: "https:")))
      #expect(try await wire.send(request, options: Self.options()).error?.code == .tls)
    }
    await waitUntilForgotten(wire)
  }

  @Test func `if a hop ends during its handshake, the handshake is abandoned and the pool is removed`() async throws {
    let server = try ScriptedServer(.receiveToEnd)
    let wire = try Wire(try await settings())
    let request = Request(url: try HTTPURL(server.baseURL.replacing("http:", with: "https:")))
    let probe = Probe()
    wire.start(request, probe, options: Self.options()) { transfer in transfer.cancel() }
    #expect(try await probe.waitForEnd().code == .cancelled)
    await waitUntilForgotten(wire)
  }
}
