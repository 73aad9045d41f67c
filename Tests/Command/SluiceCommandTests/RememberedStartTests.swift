import Glibc
import SluiceTestKit
import SluiceTestServers
import Testing

/// From the second start on, plugins that have passed their trials are not tried out again.
@Suite struct RememberedStartTests {
  private let folder: TemporaryDirectory
  private let log: String
  private let configuration: String
  private let server: LoopbackServer

  /// The plugin writes a byte for each call of its `create`.
  init() async throws {
    let folder = try TemporaryDirectory()
    log = folder.path("created")
    let define =
      "DOES={ int log = open(\"\(log)\", O_WRONLY | O_APPEND | O_CREAT, 0600);"
      + " if (write(log, \"x\", 1) < 1) abort(); close(log); }"
    let product = try await PluginCompiler.compile("create-misbehaves", defines: [define])
    let library = try folder.write(FileTree.read(product.path), to: "a.so")
    withExtendedLifetime(product) {}
    chmod(library, 0o755)
    configuration = try folder.write(Self.text(), to: "c.json")
    server = try LoopbackServer()
    self.folder = folder
  }

  private static func text(_ config: String = "{}") -> String {
    #"{"plugins": {"a": {"library": "a.so", "config": \#(config)}}, "request": ["a"], "store": "store"}"#
  }

  /// How often the plugin was created by that command.
  private func creations(_ arguments: [String], status: Int32 = 0) async throws -> Int {
    let before = (try? FileTree.read(log).count) ?? 0
    let result = try await Tool.run(arguments: arguments)
    #expect(result.status == status, "\(result.errorText)")
    return try FileTree.read(log).count - before
  }

  @Test func `send tries a plugin out at its first start, and check at each`() async throws {
    defer { server.stop() }
    let send = ["send", "-s", "-o", "/dev/null", "-c", configuration, server.baseURL]
    #expect(try await creations(send) == 2)
    #expect(try await creations(send) == 1)
    for _ in 0..<2 { #expect(try await creations(["check", "-c", configuration]) == 2) }
    #expect(try await creations(send) == 1)
    try folder.write(Self.text(#"{"a": 1}"#), to: "c.json")
    #expect(try await creations(send) == 2)
    #expect(try await creations(send) == 1)
    // A changed byte is other content.
    try folder.write(FileTree.read(folder.path("a.so")) + [0], to: "a.so")
    #expect(try await creations(send) == 2)
    #expect(try await creations(send) == 1)
  }

  @Test(.enabled(if: !Sanitizer.isOn)) func `attach tries plugins out before its first program only`() async throws {
    defer { server.stop() }
    let attach = ["attach", "-c", configuration, "--", "curl", "-s", "-o", "/dev/null", server.baseURL]
    // The trial of the library, the start of an engine, and the program.
    #expect(try await creations(attach) == 3)
    for _ in 0..<2 { #expect(try await creations(attach) == 1) }
    try folder.write(Self.text(#"{"a": 1}"#), to: "c.json")
    #expect(try await creations(attach) == 3)
    #expect(try await creations(attach) == 1)
    try folder.write(Self.text(#"{"a": 1}"#) + " ", to: "c.json")
    #expect(try await creations(attach) == 3)
  }

  @Test(.enabled(if: !Sanitizer.isOn)) func `a remembered start does not hide a wrong file of TLS`() async throws {
    defer { server.stop() }
    let authority = try folder.write(FileTree.read("/etc/ssl/certs/ca-certificates.crt"), to: "ca.pem")
    let text = Self.text().dropLast() + #", "transport": {"tls": {"ca": "ca.pem"}}}"#
    try folder.write(String(text), to: "c.json")
    let attach = ["attach", "-c", configuration, "--", "true"]
    for expected in [2, 0] { #expect(try await creations(attach) == expected) }
    try folder.write("no certificate", to: "ca.pem")
    #expect(try await creations(attach, status: 2) == 0)
    unlink(authority)
    #expect(try await creations(attach, status: 2) == 0)
  }
}
