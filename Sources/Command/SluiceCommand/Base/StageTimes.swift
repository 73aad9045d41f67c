import SluiceAssembly
import SluicePipeline

/// A table of the times that stages and tracers took.
enum StageTimes {
  /// Returns an empty list if no stage or tracer was called.
  static func lines(of metrics: MetricsSnapshot) -> [String] {
    var table = TextTable("stage", "calls", "p50", "p99", "total", "faults")
    for stage in metrics.stages where stage.calls > 0 {
      table.append(
        ["\(stage.phase) \(stage.name)", Figures.count(stage.calls)] + times(stage.time)
          + [Figures.count(stage.faults + stage.timeouts)])
    }
    for tracer in metrics.tracers where tracer.events > 0 {
      table.append(
        ["tracer \(tracer.name)", Figures.count(tracer.events)] + times(tracer.time)
          + [Figures.count(tracer.overruns + tracer.drops)])
    }
    return table.isEmpty ? [] : table.lines
  }

  private static func times(_ time: LatencySnapshot) -> [String] {
    [time.p50, time.p99, time.sum].map { Figures.time(nanoseconds: $0) }
  }
}
