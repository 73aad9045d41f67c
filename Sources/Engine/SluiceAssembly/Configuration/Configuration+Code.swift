public import SluicePipeline
public import SluicePlugin

extension Configuration {
  /// Adds Swift code as a stage. The stage comes last in each list for which the code has a function.
  ///
  /// - Parameter name: names the stage in errors and metrics; must be unique in the configuration.
  public mutating func addStage(_ name: String, _ code: StageCode, match: StageMatch? = nil) {
    plugins.append(PluginConfiguration(name: name, source: .code(code), config: code.configuration))
    let reference = StageReference(name, match: match)
    let lists = code.lists
    if lists.contains(.request) { request.append(reference) }
    if lists.contains(.issue) { issue.append(reference) }
    if lists.contains(.response) { response.append(reference) }
    if lists.contains(.tracers) { tracers.append(StageReference(name)) }
  }

  /// Adds a closure that is called before a request is sent, and can change all of it.
  ///
  ///     configuration.addStage("tenant") { request, _ in request.headers["x-tenant"] = "42" }
  ///
  /// - Parameter name: names the stage in errors and metrics; must be unique in the configuration.
  public mutating func addStage(
    _ name: String, match: StageMatch? = nil,
    request: @escaping @Sendable (StageRequest, RequestContext) async throws -> Void
  ) {
    addStage(name, StageCode(request: request), match: match)
  }
}
