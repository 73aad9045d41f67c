import Glibc

/// Compiles C and C++ plugins of the tests, as an author would: with `cc` or `c++` and only the public headers.
package enum PluginCompiler {
  /// A built plugin and the folder that holds it; the folder is removed when this value is released.
  package struct Product: Sendable {
    package let path: String
    private let folder: TemporaryDirectory

    init(path: String, folder: TemporaryDirectory) {
      self.path = path
      self.folder = folder
    }
  }

  /// Builds every C++ file of `Tests/Fixtures/Plugins/<behaviour>/`, or every C file if there is no C++ file. A define has the
  /// form `NAME` or `NAME=value`; `name` is the name of the library without `lib` and `.so`.
  package static func compile(
    _ behaviour: String, name: String? = nil, defines: [String] = [], flags: [String] = []
  ) async throws -> Product {
    let source = RepositoryRoot.path("Tests/Fixtures/Plugins/\(behaviour)")
    func files(_ ending: String) -> [String] {
      FileTree.names(in: source).filter { $0.hasSuffix(ending) }.map { "\(source)/\($0)" }
    }
    let files = files(".cc").isEmpty ? files(".c") : files(".cc")
    guard !files.isEmpty else { throw TestKitError("no C or C++ files in \(source)") }
    return try await compile(files: files, name: name ?? behaviour, defines: defines, flags: flags)
  }

  /// Builds the text of a single C file.
  package static func compile(source: String, name: String, defines: [String] = []) async throws -> Product {
    let folder = try TemporaryDirectory()
    let file = try folder.write(source, to: "\(name).c")
    return try await compile(files: [file], name: name, defines: defines, flags: [])
  }

  private static func compile(
    files: [String], name: String, defines: [String], flags: [String]
  ) async throws -> Product {
    let folder = try TemporaryDirectory()
    let path = folder.path("lib\(name).so")
    let isCXX = files.contains { $0.hasSuffix(".cc") }
    try await Command.check(
      isCXX ? "c++" : "cc",
      [
        isCXX ? "-std=c++17" : "-std=c11", "-Wall", "-Wextra", "-Werror", "-g", "-shared", "-fPIC", "-I",
        RepositoryRoot.path("include"),
      ]
        + defines.map { "-D\($0)" } + files + ["-o", path] + flags + janssonFlags.value)
    // Independent of the umask, only the owner may write the library.
    chmod(path, 0o755)
    return Product(path: path, folder: folder)
  }

  private static let janssonFlags = Task {
    try await Command.check("pkg-config", ["--cflags", "--libs", "jansson"])
      .outputText.split(whereSeparator: \.isWhitespace).map(String.init)
  }
}
