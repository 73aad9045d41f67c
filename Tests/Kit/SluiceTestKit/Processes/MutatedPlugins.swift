import Glibc

/// One intact plugin of each kind, and damaged builds of it. The self-test cases of these plugins call the same
/// functions of the plugin as real requests do.
package struct MutatedPlugins: Sendable {
  package enum Kind: String, Sendable, CaseIterable {
    case c = "C"
    case swift = "Swift"
    case cxx = "C++"
  }

  /// The number of damaged builds of each kind: a few, or 50 with `SLUICE_SOAK`.
  package static let count = getenv("SLUICE_SOAK") == nil ? 8 : 50

  package let whole: [UInt8]
  package let mutants: [LibraryMutations.Mutant]

  package init(_ kind: Kind, seed: UInt64) async throws {
    var functions = ["sluice_plugin_entry"]
    switch kind {
    case .swift: whole = try FileTree.read(BuiltProducts.library("error-enrichment"))
    case .c:
      functions += ["create", "on_request", "on_response", "run", "extension", "resume"]
      whole = try await Self.compile("tests-itself")
    case .cxx:
      functions += ["create", "on_request", "extension"]
      whole = try await Self.compile("in-cxx")
    }
    var mutations = LibraryMutations(of: whole, functions: functions, seed: seed)
    mutants = mutations.next(Self.count)
  }

  private static func compile(_ behaviour: String) async throws -> [UInt8] {
    let product = try await PluginCompiler.compile(behaviour, flags: ["-Wl,--build-id"])
    return try withExtendedLifetime(product) { try FileTree.read(product.path) }
  }
}
