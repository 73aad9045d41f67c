import SluicePlugin

/// Knows which team a path belongs to, and answers after a moment.
actor Directory {
  private let teams: [String: String]
  private let host: PluginHost
  private var known: [String: String] = [:]

  init(teams: [String: String], host: PluginHost) {
    self.teams = teams
    self.host = host
  }

  /// In a real plugin, this would be a look-up elsewhere: the caller is suspended, and its event loop continues with
  /// other requests.
  func team(of path: String) async throws -> String {
    if let team = known[path] { return team }
    try await host.sleep(for: .milliseconds(1))
    let team = teams.first { path.hasPrefix($0.key) }?.value ?? "nobody"
    known[path] = team
    return team
  }
}
