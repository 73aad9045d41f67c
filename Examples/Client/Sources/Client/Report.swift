import Sluice

/// Prints the counts of the built-in `metrics`.
func report(_ url: HTTPURL) async throws {
  var configuration = Configuration()
  configuration.plugins.append(PluginConfiguration(name: "metrics", source: .builtin("metrics")))
  configuration.tracers = [StageReference("metrics")]
  let engine = try Engine(configuration)
  _ = try await engine.perform(Request(url: url))

  if let report = engine.metricsReports["metrics"] {
    print(report.traffic.inFlight, report.traffic[.failed], report.timeToHead.p99)
    print(report.prometheusText())
    print(report.document())
  }

  let plugins = engine.pluginMetrics
  print(plugins["auth", "tokens"]?["refreshed"]?.value ?? 0)
  print(plugins.prometheusText())
  await engine.shutdown()
}
