import SluicePipeline

extension MetricsSnapshot {
  /// The engine's own counts, under names that no built-in `metrics` uses.
  package func write(to text: inout PrometheusText) {
    text.begin("sluice_engine_transactions_total", "counter", "Transactions of the engine that ended.")
    for outcome in OutcomeClass.allCases { text.sample(self[outcome], [("outcome", "\(outcome)")]) }
    text.begin("sluice_engine_active_transactions", "gauge", "Transactions of the engine in flight.")
    text.sample(inFlight)
    text.begin("sluice_engine_responses_total", "counter", "Transactions of the engine that ended, by their status.")
    for status in StatusClass.allCases { text.sample(self[status], [("http_response_status_class", status.text)]) }
    text.begin("sluice_engine_duration_seconds", "summary", "Time from submission to the end, retries included.")
    text.summary(duration)
    text.counter("sluice_engine_attempts_total", "Passes through the stages and the wire.", attempts)
    text.counter("sluice_engine_retries_total", "Decisions to make one more attempt.", retries)
    text.counter(
      "sluice_engine_retries_over_budget_total", "Retries that were not made, because the retry budget was used up.",
      retriesOverBudget)
    text.counter("sluice_engine_redirects_total", "Redirects that were followed.", redirects)
    text.counter("sluice_engine_hops_total", "Requests on the wire.", hops)
    text.counter("sluice_engine_bytes_sent_total", "Bytes sent by all hops.", bytesSent)
    text.counter("sluice_engine_bytes_received_total", "Body bytes received by all hops.", bytesReceived)
    writeStages(to: &text)
    writeTracers(to: &text)
  }

  private func writeStages(to text: inout PrometheusText) {
    guard !stages.isEmpty || text.writesEmptyMetrics else { return }
    func labels(_ stage: StageSnapshot) -> PrometheusText.Labels {
      [("phase", "\(stage.phase)"), ("stage", stage.name)]
    }
    text.begin("sluice_stage_duration_seconds", "summary", "Time in the calls of a stage.")
    for stage in stages { text.summary(stage.time, labels(stage)) }
    text.begin("sluice_stage_faults_total", "counter", "Calls of a stage that ended with a fault other than a timeout.")
    for stage in stages { text.sample(stage.faults, labels(stage)) }
    text.begin("sluice_stage_timeouts_total", "counter", "Calls of a stage that were not resumed in time.")
    for stage in stages { text.sample(stage.timeouts, labels(stage)) }
    text.begin("sluice_stage_skips_total", "counter", "Faults and timeouts after which the transaction went on.")
    for stage in stages { text.sample(stage.skips, labels(stage)) }
  }

  private func writeTracers(to text: inout PrometheusText) {
    guard !tracers.isEmpty || text.writesEmptyMetrics else { return }
    text.begin("sluice_tracer_duration_seconds", "summary", "Time in the calls of a tracer.")
    for tracer in tracers { text.summary(tracer.time, [("tracer", tracer.name)]) }
    text.begin("sluice_tracer_overruns_total", "counter", "Events that took longer than the budget of the tracer.")
    for tracer in tracers { text.sample(tracer.overruns, [("tracer", tracer.name)]) }
    text.begin("sluice_tracer_drops_total", "counter", "Events that found the queue of the tracer full.")
    for tracer in tracers { text.sample(tracer.drops, [("tracer", tracer.name)]) }
  }
}
