import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// Runs curl and `sluice send` over TLS with the same arguments. The server must see the same version, cipher, client
/// certificate and request, and the exit status must be the same.
@Suite(.enabled(if: CurlCommand.path != nil)) struct CurlTLSComparisonTests {
  @Test func `curl and send do the same over TLS`() async throws {
    let certificates = try await TestCertificates.shared()
    var configuration = NginxConfiguration()
    configuration.bigFileBytes = 1
    configuration.extraDirectives = """
      location = /facts {
        return 200 "$ssl_protocol $ssl_cipher $ssl_client_verify $request_method $http_host $server_protocol\\n";
      }
      """
    let server = try await NginxServer.start(configuration, certificates: certificates)
    let values = try await Self.values(server, certificates)
    for words in CurlInvocations.secure {
      var text = words
      for (name, value) in values { text = text.replacing("{\(name)}", with: value) }
      let curl = try await Self.run("\(CurlCommand.path ?? "curl") -sS -L --compressed --fail-with-body \(text)")
      let send = try await Self.run("\(Tool.path) send \(text)")
      #expect(send.outputText == curl.outputText, "\(words)")
      #expect(send.status == curl.status, "\(words): \(curl.errorText)\(send.errorText)")
    }
    try await server.stop()
  }

  private static func run(_ command: String) async throws -> CommandResult {
    try await Command.run("sh", ["-c", "exec \(command)"], environment: Tool.cleared)
  }

  private static func values(
    _ server: NginxServer, _ certificates: TestCertificates
  ) async throws -> [String: String] {
    let (client, folder) = (certificates.client, server.folder)
    func openssl(_ command: String) async throws -> String {
      let result = try await Command.run("sh", ["-c", "openssl \(command)"])
      try #require(result.status == 0, "\(result.errorText)")
      return result.outputText
    }
    let (locked, both, key) = (folder.path("locked.pem"), folder.path("both.pem"), folder.path("public.pem"))
    _ = try await openssl("pkcs8 -topk8 -in \(client.key) -passout pass:secret -out \(locked)")
    _ = try await openssl("x509 -in \(client.certificate) -out \(both) && cat \(locked) >>\(both)")
    _ = try await openssl("x509 -in \(certificates.server.certificate) -pubkey -noout >\(key)")
    let hash = try await openssl("pkey -pubin -in \(key) -outform der | openssl dgst -sha256 -binary | base64")
    return [
      "tls": server.secureBaseURL, "port": "\(server.securePort)", "ca": certificates.authority,
      "cert": client.certificate, "key": client.key, "locked": locked, "both": both, "public": key,
      "pin": "sha256//\(hash.prefix { $0 != "\n" })",
    ]
  }
}
