import CSluice
import SluiceMessages
import SluicePipeline

/// The table `sluice.completions/1`.
enum CompletionFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_completions> = {
    let table = UnsafeMutablePointer<sluice_completions>.allocate(capacity: 1)
    table.initialize(
      to: sluice_completions(
        size: UInt32(MemoryLayout<sluice_completions>.size), reserved: 0,
        complete: { CompletionFunctions.complete($0, $1, $2) }))
    return UnsafePointer(table)
  }()

  private static func complete(
    _ host: UnsafePointer<sluice_host>?, _ completion: sluice_completion, _ outcome: sluice_work_outcome
  ) -> sluice_status {
    guard let handle = HostHandle.of(host) else { return Status.stale }
    guard let instance = handle.instance else {
      handle.report(.staleCompletion)
      return Status.stale
    }
    guard let outcome = WorkOutcome(reported: outcome) else {
      handle.report(.invalidArgument, "complete with the outcome \(outcome)")
      return Status.invalid
    }
    switch instance.completions.complete(CompletionToken(completion), outcome) {
    case .accepted: return Status.ok
    case .already:
      handle.report(.secondCompletion)
      return Status.already
    case .stale:
      handle.report(.staleCompletion)
      return Status.stale
    }
  }
}
