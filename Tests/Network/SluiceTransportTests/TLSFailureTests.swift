import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestServers
import Testing

/// Error messages about the certificates of server and client.
@Suite struct TLSFailureTests {
  private func settings(_ change: (inout TransportSettings) -> Void = { _ in }) async throws -> TransportSettings {
    var settings = TransportSettings.patient
    settings.tls.ca = try await TestCertificates.shared().authority
    change(&settings)
    return settings
  }

  /// Returns the message of a TLS failure before the head, without the URL at the start of the message. If the transfer
  /// ended in another way, returns a description of that end.
  private func message(_ record: Probe.Record, _ server: TLSServer) -> String {
    guard let error = record.error, error.code == .tls, record.ends.count == 1, record.head == nil else {
      return "another end: \(record.ends)"
    }
    let place = "\(server.baseURL): "
    return error.message.hasPrefix(place) ? String(error.message.dropFirst(place.count)) : "no place: \(error)"
  }

  @Test(arguments: [
    (
      TestCertificates.Flaw.expired,
      "SSL certificate problem: certificate has expired; the server needs a new certificate, or the clock of this machine"
        + " is wrong"
    ),
    (
      .notYetValid,
      "SSL certificate problem: certificate is not yet valid; the clock of this machine or of the certificate's maker is"
        + " wrong"
    ),
    (
      .otherName,
      "SSL: no alternative certificate subject name matches target host name 'localhost'; the certificate is for another"
        + " host: check the host of the URL, or give the server a certificate for it"
    ),
    (
      .selfSigned,
      "SSL certificate problem: self-signed certificate; if the server is the right one, name this certificate in"
        + " transport.tls.ca"
    ),
  ])
  func `the error for an untrusted certificate says what is wrong with it and what to do`(
    _ flaw: TestCertificates.Flaw, _ words: String
  ) async throws {
    let server = try await TLSServer.start(TestCertificates.shared().server(flaw))
    let record = try await Wire(settings()).get(server.baseURL)
    #expect(message(record, server) == words)
    #expect(record.error?.isBeforeSending == true && record.issued.isEmpty)
  }

  @Test func `the error for a certificate of an unknown authority advises to name the authority`() async throws {
    let certificates = try await TestCertificates.shared()
    let server = try await TLSServer.start(certificates.server)
    let words = message(
      try await Wire(settings { $0.tls.ca = certificates.client.certificate }).get(server.baseURL), server)
    #expect(words.hasSuffix("; if the server is the right one, name its authority in transport.tls.ca"), "\(words)")
  }

  @Test func `following the advice for a self-signed certificate works`() async throws {
    let certificates = try await TestCertificates.shared()
    let alone = try certificates.server(.selfSigned)
    let server = try await TLSServer.start(alone, ["-WWW"])
    let wire = try await Wire(settings { $0.tls.ca = alone.certificate })
    #expect(try await wire.get(server.baseURL).head != nil)
  }

  // MARK: Client certificates

  @Test(arguments: [["-tls1_3"], ["-tls1_2"]])
  func `if the server demands a client certificate and there is none, the error says so`(
    _ version: [String]
  ) async throws {
    let certificates = try await TestCertificates.shared()
    let demand = ["-Verify", "1", "-verify_return_error", "-CAfile", certificates.authority]
    let server = try await TLSServer.start(certificates.server, demand + version)
    let words = message(try await Wire(settings()).get(server.baseURL), server)
    #expect(words.contains("client certificate"), "\(words)")
    #expect(words.contains("transport.tls.cert") && words.contains("transport.tls.key"), "\(words)")
    #expect(!words.contains("speaks TLS on this port"), "\(words)")
    if version == ["-tls1_3"] {
      #expect(words.hasPrefix("the server asks for a client certificate, and there is none: "), "\(words)")
    }
  }

  @Test(arguments: [["-tls1_3"], ["-tls1_2"]])
  func `the error for a client certificate that the server refuses names its file`(_ version: [String]) async throws {
    let certificates = try await TestCertificates.shared()
    let demand = ["-Verify", "1", "-verify_return_error", "-CAfile", certificates.authority]
    let server = try await TLSServer.start(certificates.server, demand + version)
    let settings = try await settings {
      $0.tls.certificate = certificates.stranger.certificate
      $0.tls.key = certificates.stranger.key
    }
    let words = message(try await Wire(settings).get(server.baseURL), server)
    let start = "the server does not accept the client certificate \(certificates.stranger.certificate): "
    #expect(words.hasPrefix(start), "\(words)")
    #expect(words.contains("transport.tls.cert and transport.tls.key"), "\(words)")
  }

  @Test(.enabled(if: NginxServer.isAvailable))
  func `nginx answers 400 without a client certificate, and 200 with one`() async throws {
    let certificates = try await TestCertificates.shared()
    var configuration = NginxConfiguration()
    configuration.demandsClientCertificate = true
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    let without = try await Wire(settings()).get(nginx.secureBaseURL)
    #expect(without.error == nil && without.head?.status == 400)
    #expect(without.bodyText.contains("No required SSL certificate was sent"))
    let settings = try await settings {
      $0.tls.certificate = certificates.client.certificate
      $0.tls.key = certificates.client.key
    }
    #expect(try await Wire(settings).get(nginx.secureBaseURL).bodyText == "ok\n")
  }

  // MARK: Other handshakes

  @Test func `the error says that a server does not speak TLS`() async throws {
    let server = try LoopbackServer()
    let record = try await Wire(settings()).get("https://localhost:\(server.port)/")
    #expect(record.code == .tls && record.error?.isBeforeSending == true)
    #expect(
      record.error?.message.hasSuffix("; check that the server speaks TLS on this port") == true,
      "\(String(describing: record.error))")
  }

  @Test func `the error for a handshake without a common cipher names the possible causes`() async throws {
    let certificates = try await TestCertificates.shared()
    let server = try await TLSServer.start(certificates.server, ["-tls1_2", "-cipher", "ECDHE-RSA-AES256-GCM-SHA384"])
    let words = message(try await Wire(settings()).get(server.baseURL), server)
    #expect(words.contains("no TLS version and cipher in common"), "\(words)")
    #expect(words.contains("client certificate"), "\(words)")
  }
}
