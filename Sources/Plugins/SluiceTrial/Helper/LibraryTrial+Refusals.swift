package import SluicePluginHost
import SluiceSupport

extension LibraryTrial {
  /// Examines all candidates, at most four at the same time, because each needs a process. Returns one element for each
  /// candidate, in order: why it is refused, or nil.
  package func refusals(of candidates: [TrialCandidate]) async -> [PluginError?] {
    await candidates.mapConcurrently(atMost: 4) { candidate -> PluginError? in
      do throws(PluginError) {
        try await examine(candidate)
        return nil
      } catch { return error }
    }
  }
}
