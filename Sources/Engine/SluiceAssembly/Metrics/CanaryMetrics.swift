package import SluiceJSON
package import SluicePipeline

/// The counts of both arms of a canary, each since its snapshot was published.
package struct CanaryMetrics: Sendable {
  private let arms: [(name: String, counts: MetricsSnapshot)]

  package init(candidate: MetricsSnapshot, control: MetricsSnapshot) {
    arms = [("candidate", candidate), ("control", control)]
  }

  /// Without a canary.
  init() { arms = [] }

  package func document() -> JSONValue {
    let document = JSONValue.object()
    for (name, counts) in arms {
      let arm = counts.document()
      arm["unhealthy"] = JSONValue(Int64(clamping: counts.unhealthy))
      document[name] = arm
    }
    return document
  }

  /// The series exist as long as the canary runs.
  package func write(to text: inout PrometheusText) {
    text.begin("sluice_canary_transactions_total", "counter", "Transactions of an arm of the canary that ended.")
    for (arm, counts) in arms {
      for outcome in OutcomeClass.allCases { text.sample(counts[outcome], [("arm", arm), ("outcome", "\(outcome)")]) }
    }
    text.begin(
      "sluice_canary_unhealthy_total", "counter",
      "Transactions that failed, ended with a status of 5xx, or had a stage at fault.")
    for (arm, counts) in arms { text.sample(counts.unhealthy, [("arm", arm)]) }
    text.begin("sluice_canary_responses_total", "counter", "Transactions that ended, by their status.")
    for (arm, counts) in arms {
      for status in StatusClass.allCases {
        text.sample(counts[status], [("arm", arm), ("http_response_status_class", status.text)])
      }
    }
    text.begin("sluice_canary_duration_seconds", "summary", "Time from submission to the end, retries included.")
    for (arm, counts) in arms { text.summary(counts.duration, [("arm", arm)]) }
  }
}
