import SluiceTestKit
import Testing

/// Mistakes in `SLUICE_PLUGIN` declarations that the compiler refuses.
struct DeclarationTests {
  private static let compilers = [
    ["cc", "-x", "c", "-std=c11"], ["c++", "-x", "c++", "-std=c++17"], ["c++", "-x", "c++", "-std=c++20"],
  ]

  /// Returns the compiler's message about a declaration, or nil if the compiler accepts it.
  private func refusal(_ compiler: [String], id: String = "\"a\"", version: String) async throws -> String? {
    let folder = try TemporaryDirectory()
    let source = try folder.write(
      """
      #include <sluice/sluice.h>
      static const char name[] = "a";
      static const void *extension(const char *id) { return id == name ? name : 0; }
      SLUICE_PLUGIN(\(id), \(version), SLUICE_SET(summary, "A fixture."), SLUICE_UNCONFIGURED, SLUICE_SET(extension, extension));

      """, to: "plugin")
    let flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", RepositoryRoot.path("include")]
    let result = try await Command.run(compiler[0], flags + compiler.dropFirst() + [source])
    return result.status == 0 ? nil : result.errorText
  }

  @Test(arguments: compilers)
  func `the compiler refuses a version of more than 31 characters`(_ compiler: [String]) async throws {
    let longest = "1.0.0-" + String(repeating: "a", count: 25)
    #expect(try await refusal(compiler, version: "\"\(longest)\"") == nil)
    let refused = try await refusal(compiler, version: "\"\(longest)a\"")
    #expect(refused?.contains("the version has more than 31 characters") == true, "\(refused ?? "it was taken")")
  }

  @Test(arguments: compilers)
  func `the compiler refuses an id or a version that is not a literal`(_ compiler: [String]) async throws {
    #expect(try await refusal(compiler, version: "\"1.0.0\"") == nil)
    #expect(try await refusal(compiler, version: "name") != nil)
    #expect(try await refusal(compiler, id: "name", version: "\"1.0.0\"") != nil)
  }
}
