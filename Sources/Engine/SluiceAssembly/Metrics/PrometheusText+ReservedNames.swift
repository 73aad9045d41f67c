import SluicePipeline

extension PrometheusText {
  /// The names that no metric of a plugin gets: those of all other metrics of a scrape, also if this engine has none of
  /// them, and those of the samples that Prometheus adds to each scrape.
  static let reservedNames: Set<String> = {
    var text = PrometheusText(labels: [:])
    text.writesEmptyMetrics = true
    text.target([])
    ProcessUsage(residentBytes: 0, openDescriptors: 0, descriptorLimit: 0).write(to: &text)
    MetricsSnapshot().write(to: &text)
    SwapCounts().write(to: &text)
    CanaryMetrics().write(to: &text)
    text.writeStuckLoops(0)
    MetricsReport.write([], to: &text)
    PluginMetricsReport().writeSchedules(to: &text)
    return text.names.union(scraperNames)
  }()

  /// See https://prometheus.io/docs/concepts/jobs_instances/ and the feature extra-scrape-metrics.
  private static let scraperNames = [
    "up", "scrape_duration_seconds", "scrape_samples_scraped", "scrape_samples_post_metric_relabeling",
    "scrape_series_added", "scrape_timeout_seconds", "scrape_sample_limit", "scrape_body_size_bytes",
  ]
}
