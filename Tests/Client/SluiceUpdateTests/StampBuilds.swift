import SluiceTestKit

/// Builds of the plugin `stamps-release`, each compiled once for all tests.
actor StampBuilds {
  static let shared = StampBuilds()

  private var products: [String: Task<PluginCompiler.Product, any Error>] = [:]

  /// Returns the library of a build, which sets the header x-build to the build's name. If the name contains "fails",
  /// every request fails. If it contains "crashes", a request to `/crash` ends the process.
  func library(_ build: String) async throws -> String {
    if let task = products[build] { return try await task.value.path }
    let fails = build.contains("fails") ? 1 : build.contains("crashes") ? 2 : 0
    let task = Task {
      try await PluginCompiler.compile("stamps-release", defines: [#"BUILD="\#(build)""#, "FAILS=\(fails)"])
    }
    products[build] = task
    return try await task.value.path
  }
}
