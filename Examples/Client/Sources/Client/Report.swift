import Sluice

/// What the built-in `metrics` has counted.
func report(_ url: HTTPURL) async throws {
  var configuration = Configuration()
  configuration.plugins.append(PluginConfiguration(name: "metrics", source: .builtin("metrics")))
  configuration.tracers = [StageReference("metrics")]
  let engine = try Engine(configuration)
  _ = try await engine.execute(Request(url: url))

  if let report = engine.metricsReports["metrics"] {
    print(report.inFlight, report[.failed], report.duration.p99)
    print(report.prometheusText())
    print(report.document())
  }
  await engine.shutdown()
}
