import SluiceJSON

extension Configuration {
  /// Returns the configuration with a stage that only fails in place of each of these plugins.
  /// - Parameter reasons: for the name of each plugin: what failed, why, and what to do.
  package func disabling(_ reasons: [String: String]) -> Configuration {
    var configuration = self
    for index in plugins.indices {
      guard let reason = reasons[plugins[index].name] else { continue }
      configuration.plugins[index].source = .code(StageCode(direct: DisabledStage(because: reason)))
      configuration.plugins[index].config = .object()
      configuration.plugins[index].delivery = .inline
      configuration.plugins[index].allowed = []
    }
    func plain(_ references: [StageReference]) -> [StageReference] {
      references.map { reference in
        var reference = reference
        if reasons[reference.plugin] != nil { reference.config = nil }
        return reference
      }
    }
    configuration.request = plain(request)
    configuration.issue = plain(issue)
    configuration.response = plain(response)
    return configuration
  }
}
