import SluicePipeline

extension Engine {
  /// What each built-in `metrics` counted so far, by its name in the configuration. From any thread; the counts of the engine
  /// itself and of its stages are ``metrics()``.
  public var metricsReports: [String: MetricsReport] {
    instances.stages.compactMapValues { ($0.tracer as? MetricsStage)?.report() }
  }
}
