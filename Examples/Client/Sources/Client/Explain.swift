import Sluice

/// Prints why each header was sent or not.
func explain(_ url: HTTPURL) async throws {
  var configuration = Configuration()
  configuration.plugins = [PluginConfiguration(name: "headers", source: .builtin("headers"))]
  configuration.issue = [StageReference("headers")]
  let engine = try Engine(configuration)

  var request = Request(url: url)
  request.wantsExplanation = true
  let result = await engine.transaction(request)
  for hop in result.explanation ?? [] {
    for header in hop.decisions { print(hop.attempt, hop.hop, header.header, header.reason, header.detail ?? "") }
  }
  await engine.shutdown()
}
