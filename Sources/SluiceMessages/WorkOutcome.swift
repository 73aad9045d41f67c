/// How scheduled work, or a notification that was taken, ended.
public enum WorkOutcome: String, Sendable, Hashable, CaseIterable {
  case newData = "new-data"
  case noData = "no-data"
  case failed
  /// It was not completed in time. The host's own: no plugin can report it.
  case missedDeadline = "missed-deadline"
}
