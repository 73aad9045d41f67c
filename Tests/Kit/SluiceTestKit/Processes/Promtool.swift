import Glibc

/// Prometheus' own check of a text of metrics.
package enum Promtool {
  /// Whether promtool is on `PATH`, or where scripts/install-dependencies.sh puts it.
  package static var isAvailable: Bool { program != nil }

  /// Runs `promtool check metrics`. The status is 1 if Prometheus would refuse the text, and 3 if only names are unusual.
  package static func check(_ metrics: String) async throws -> CommandResult {
    guard let program else { throw TestKitError("promtool is not on PATH nor in .build/tools; run make test-deps") }
    return try await Command.run(program, ["check", "metrics"], standardInput: Array(metrics.utf8))
  }

  private static let program: String? = {
    let folders = (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":").map(String.init)
    return (folders + [RepositoryRoot.path(".build/tools")]).map { "\($0)/promtool" }.first { access($0, X_OK) == 0 }
  }()
}
