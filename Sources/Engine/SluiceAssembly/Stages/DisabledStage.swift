import SluiceMessages
import SluicePipeline

/// Takes the place of a plugin that must not serve: every call is a fault, so the stage's `onFault` decides whether
/// requests fail or continue without it.
final class DisabledStage: Interceptor, Tracer {
  private let verdict: Verdict

  init(because reason: String) {
    verdict = .fault(StageFailure(code: .pluginDisabled, message: reason))
  }

  var capabilities: StageCapabilities { [.request, .issue, .response] }

  func interceptRequest(_ exchange: Exchange) -> Verdict { verdict }
  func interceptIssue(_ exchange: Exchange) -> Verdict { verdict }
  func interceptResponse(_ exchange: Exchange) -> Verdict { verdict }

  var interests: TraceInterests { [] }
  func record(_ event: TraceEvent) {}
}
