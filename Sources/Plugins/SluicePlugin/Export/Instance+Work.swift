import CSluice
import SluiceMessages

extension Instance {
  /// Does the work that the completion is for, and completes it.
  func work(
    _ completion: sluice_completion, _ subject: String, _ body: @escaping @Sendable () async throws -> WorkOutcome
  ) {
    tasks.run { [self] in
      var outcome = WorkOutcome.failed
      do { outcome = try await body() } catch {
        if !(error is CancellationError) { host.log(.error, "\(subject): \(error)") }
      }
      host.link.complete(completion, outcome)
    }
  }
}
