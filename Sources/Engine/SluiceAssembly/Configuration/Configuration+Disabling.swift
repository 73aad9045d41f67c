import SluiceJSON
import SluiceMessages
import SluicePipeline

extension Configuration {
  /// Replaces each of these plugins by a stage that only fails, and returns the new configuration.
  /// - Parameter reasons: the plugins by name, each with what failed, why, and what to do.
  package func disabling(_ reasons: [String: String]) -> Configuration {
    var configuration = self
    for index in plugins.indices {
      guard let reason = reasons[plugins[index].name] else { continue }
      configuration.plugins[index].source = .code(StageCode(direct: DisabledStage(because: reason)))
      configuration.plugins[index].config = .object()
      configuration.plugins[index].delivery = .inline
      configuration.plugins[index].allowed = []
    }
    func plain(_ references: [StageReference]) -> [StageReference] {
      references.map { reference in
        var reference = reference
        if reasons[reference.plugin] != nil { reference.config = nil }
        return reference
      }
    }
    configuration.request = plain(request)
    configuration.issue = plain(issue)
    configuration.response = plain(response)
    return configuration
  }
}

/// Takes the place of a plugin that must not serve: every call is a fault, so the stage's `onFault` decides whether
/// requests fail or continue without it.
private final class DisabledStage: Interceptor, Tracer {
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
