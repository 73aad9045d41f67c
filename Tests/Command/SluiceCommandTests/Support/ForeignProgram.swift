import SluiceTestKit

/// A C program of `Tests/Fixtures/Programs/attached` that does not use Sluice, or a library for such a program. The built file
/// is removed when the last copy of this value is released.
struct ForeignProgram {
  let path: String
  private let folder: TemporaryDirectory

  static func compile(_ name: String, _ flags: [String] = ["-lcurl"]) async throws -> ForeignProgram {
    let folder = try TemporaryDirectory()
    let path = folder.path(name)
    let source = RepositoryRoot.path("Tests/Fixtures/Programs/attached/\(name).c")
    try await Command.check(
      "cc", ["-std=c11", "-Wall", "-Wextra", "-Werror", "-g", source, "-o", path, "-lpthread"] + flags)
    return ForeignProgram(path: path, folder: folder)
  }

  static func compileLibrary(_ name: String, _ flags: [String] = ["-lcurl"]) async throws -> ForeignProgram {
    try await compile(name, ["-shared", "-fPIC"] + flags)
  }
}
