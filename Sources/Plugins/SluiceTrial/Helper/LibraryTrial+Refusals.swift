package import SluicePluginHost

extension LibraryTrial {
  /// Examines all candidates, at most four at the same time, because each needs a process. Returns one element for each
  /// candidate, in order: why it is refused, or nil.
  package func refusals(of candidates: [TrialCandidate]) async -> [PluginError?] {
    await withTaskGroup(of: (index: Int, refusal: PluginError?).self) { group in
      var refusals = [PluginError?](repeating: nil, count: candidates.count)
      for (index, candidate) in candidates.enumerated() {
        if index >= 4, let ended = await group.next() { refusals[ended.index] = ended.refusal }
        group.addTask {
          do throws(PluginError) {
            try await examine(candidate)
            return (index, nil)
          } catch { return (index, error) }
        }
      }
      for await ended in group { refusals[ended.index] = ended.refusal }
      return refusals
    }
  }
}
