/// A certificate authority, a server certificate for `localhost`, 127.0.0.1 and ::1, and a client certificate.
///
/// Made with the `openssl` command, once per process.
public struct TestCertificates: Sendable {
  /// Paths of PEM files.
  public struct Identity: Sendable {
    public let certificate: String
    public let key: String
  }

  /// The authority's certificate, PEM: what a client must trust.
  public let authority: String
  public let server: Identity
  public let client: Identity

  /// The set that all tests of this process share.
  public static func shared() async throws -> TestCertificates {
    try await made.value
  }

  private static let made = Task {
    let folder = try TemporaryDirectory.lastingForProcess()
    try await makeAuthority(in: folder)
    let names = "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1\nextendedKeyUsage=serverAuth"
    return TestCertificates(
      authority: folder.path("ca.pem"),
      server: try await makeIdentity("localhost", extensions: names, in: folder),
      client: try await makeIdentity("client", extensions: "extendedKeyUsage=clientAuth", in: folder))
  }

  private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

  private static func makeAuthority(in folder: TemporaryDirectory) async throws {
    try await Command.check(
      "openssl",
      ["req", "-x509", "-days", "30", "-subj", "/CN=Sluice test authority"] + newKey
        + ["-keyout", folder.path("ca.key"), "-out", folder.path("ca.pem")])
  }

  private static func makeIdentity(
    _ name: String, extensions: String, in folder: TemporaryDirectory
  ) async throws -> Identity {
    let identity = Identity(certificate: folder.path("\(name).pem"), key: folder.path("\(name).key"))
    let request = folder.path("\(name).csr")
    let extensionFile = try folder.write(extensions, to: "\(name).ext")
    try await Command.check(
      "openssl", ["req", "-new", "-subj", "/CN=\(name)"] + newKey + ["-keyout", identity.key, "-out", request])
    try await Command.check(
      "openssl",
      ["x509", "-req", "-days", "30", "-in", request, "-extfile", extensionFile, "-CA", folder.path("ca.pem")]
        + ["-CAkey", folder.path("ca.key"), "-CAcreateserial", "-out", identity.certificate])
    return identity
  }
}
