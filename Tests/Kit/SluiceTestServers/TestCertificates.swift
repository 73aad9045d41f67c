import SluiceTestKit

/// A certificate authority, and certificates for `localhost`, 127.0.0.1 and ::1 and for a client.
///
/// The `openssl` command makes them once per process.
package struct TestCertificates: Sendable {
  /// Paths of PEM files.
  package struct Identity: Sendable {
    package let certificate: String
    package let key: String
  }

  /// Flaws of a certificate that make a client distrust a server.
  package enum Flaw: String, Sendable, CaseIterable {
    case expired
    case notYetValid
    /// Valid only for `other.example`.
    case otherName
    /// Signed only by itself.
    case selfSigned
  }

  /// The authority's certificate, PEM: what a client must trust.
  package let authority: String
  package let server: Identity
  package let client: Identity
  /// Like `client`, but with an RSA key.
  package let clientRSA: Identity
  /// A client certificate that the authority has not signed: it is self-signed.
  package let stranger: Identity
  private let flawed: [Flaw: Identity]

  /// A server certificate with only this flaw.
  package func server(_ flaw: Flaw) throws -> Identity {
    guard let identity = flawed[flaw] else { throw TestKitError("no certificate is \(flaw)") }
    return identity
  }

  /// The set that all tests of this process share.
  package static func shared() async throws -> TestCertificates {
    try await made.value
  }

  private static let made = Task {
    let maker = try await CertificateMaker()
    return TestCertificates(
      authority: maker.authority, server: try await maker.signed("localhost", CertificateMaker.serverUse),
      client: try await maker.signed("client", "extendedKeyUsage=clientAuth"),
      clientRSA: try await maker.signed(
        "client-rsa", "extendedKeyUsage=clientAuth", key: ["-newkey", "rsa:2048", "-nodes"]),
      stranger: try await maker.selfSigned("stranger"),
      flawed: [
        .expired: try await maker.signed("expired", CertificateMaker.serverUse, valid: ("2020", "2021")),
        .notYetValid: try await maker.signed("early", CertificateMaker.serverUse, valid: ("2048", "2049")),
        .otherName: try await maker.signed("other", "subjectAltName=DNS:other.example"),
        .selfSigned: try await maker.selfSigned("alone"),
      ])
  }
}

/// Signs certificates with the `openssl` command.
private struct CertificateMaker {
  static let serverUse = "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1\nextendedKeyUsage=serverAuth"
  private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

  private let folder: TemporaryDirectory
  private let settings: String
  var authority: String { folder.path("ca.pem") }

  init() async throws {
    folder = try TemporaryDirectory.lastingForProcess()
    try folder.write("", to: "issued")
    settings = try folder.write(
      """
      [ca]
      default_ca = test
      [test]
      database = \(folder.path("issued"))
      new_certs_dir = \(folder.path)
      rand_serial = yes
      unique_subject = no
      default_md = sha256
      policy = names
      [names]
      commonName = supplied
      """, to: "ca.cnf")
    try await Command.check(
      "openssl",
      ["req", "-x509", "-days", "30", "-subj", "/CN=Sluice test authority"] + Self.newKey
        + ["-keyout", folder.path("ca.key"), "-out", folder.path("ca.pem")])
  }

  ///   - valid: the first day of the year `from` to the first day of the year `to`; nil means 30 days, beginning now.
  func signed(
    _ name: String, _ extensions: String, valid: (from: String, to: String)? = nil, key: [String] = newKey
  ) async throws -> TestCertificates.Identity {
    let identity = identity(name)
    let request = folder.path("\(name).csr")
    let extensionFile = try folder.write(extensions, to: "\(name).ext")
    try await Command.check(
      "openssl", ["req", "-new", "-subj", "/CN=\(name)"] + key + ["-keyout", identity.key, "-out", request])
    // `openssl ca` is used because `openssl x509` cannot set the first day of validity.
    let days =
      valid.map { ["-startdate", "\($0.from)0101000000Z", "-enddate", "\($0.to)0101000000Z"] } ?? ["-days", "30"]
    try await Command.check(
      "openssl",
      ["ca", "-batch", "-notext", "-config", settings, "-cert", authority, "-keyfile", folder.path("ca.key")] + days
        + ["-in", request, "-extfile", extensionFile, "-out", identity.certificate])
    return identity
  }

  /// For `localhost`.
  func selfSigned(_ name: String) async throws -> TestCertificates.Identity {
    let identity = identity(name)
    try await Command.check(
      "openssl",
      ["req", "-x509", "-days", "30", "-subj", "/CN=\(name)", "-addext", "subjectAltName=DNS:localhost"] + Self.newKey
        + ["-keyout", identity.key, "-out", identity.certificate])
    return identity
  }

  private func identity(_ name: String) -> TestCertificates.Identity {
    TestCertificates.Identity(certificate: folder.path("\(name).pem"), key: folder.path("\(name).key"))
  }
}
