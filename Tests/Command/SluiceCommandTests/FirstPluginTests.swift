import Glibc
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The example plugins at the beginning of the README. They must be short and safe to copy.
@Suite struct FirstPluginTests {
  private static let warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]

  /// Returns the README's first code block in a language, and its number of lines.
  private func first(in language: String) throws -> (text: String, lines: Int) {
    let example = try #require(DocumentExample.all(in: language).first { $0.page == "README.md" })
    return (example.text, example.text.split(separator: "\n", omittingEmptySubsequences: false).count - 1)
  }

  @Test func `the first plugin in C has at most 12 lines`() throws { #expect(try first(in: "c").lines <= 12) }

  @Test func `the first plugin in Swift has at most 10 lines`() throws { #expect(try first(in: "swift").lines <= 10) }

  @Test(arguments: [("cc", "c", "c11"), ("c++", "c++", "c++17"), ("c++", "c++", "c++20")])
  func `the first plugin in C compiles as C and as C++, passes validation and sets its header`(
    _ compiler: String, _ language: String, _ standard: String
  ) async throws {
    let folder = try TemporaryDirectory()
    let source = try folder.write(try first(in: "c").text, to: "tenant.c")
    let library = folder.path("libtenant.so")
    try await Command.check(
      compiler,
      ["-std=\(standard)", "-shared", "-fPIC", "-I", RepositoryRoot.path("include")] + Self.warnings
        + ["-x", language, source, "-x", "none", "-ljansson", "-o", library])
    chmod(library, 0o755)
    let validated = try await Tool.run("plugin", "validate", library, "--deadline", "120s")
    #expect(validated.status == 0, "\(validated.outputText)")
    let server = try LoopbackServer()
    defer { server.stop() }
    let sent = try await Tool.run("send", "--plugin", library, server.baseURL)
    #expect(sent.status == 0, "\(sent.errorText)")
    #expect(server.requests.first?.headers.first("x-tenant") == "blue")
    let refused = try await Tool.run("send", "--plugin", #"\#(library)={"color": "red"}"#, server.baseURL)
    #expect(refused.status == 2, "it has no configuration: \(refused.errorText)")
  }

  @Test func `the first plugin in Swift compiles`() async throws {
    let folder = try TemporaryDirectory()
    let source = try folder.write(try first(in: "swift").text, to: "Tenant.swift")
    let flags = try await Command.check("pkg-config", ["--cflags", "jansson"]).outputText
    try await Command.check(
      "swiftc",
      [
        "-typecheck", "-swift-version", "6", "-warnings-as-errors", "-parse-as-library", "-module-name", "Tenant",
        "-I", "\(BuiltProducts.directory)/Modules", "-I", RepositoryRoot.path("include"),
        "-Xcc", "-fmodule-map-file=\(RepositoryRoot.path("Sources/System/CJansson/module.modulemap"))",
      ] + flags.split(whereSeparator: \.isWhitespace).map(String.init) + [source])
  }
}
