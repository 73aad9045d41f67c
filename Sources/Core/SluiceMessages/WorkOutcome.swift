/// How scheduled work ended, or the handling of a notification that was accepted.
public enum WorkOutcome: String, Sendable, Hashable, CaseIterable {
  case newData = "new-data"
  case noData = "no-data"
  case failed
  /// It was not completed in time. Only the host sets this outcome; a plugin cannot report it.
  case missedDeadline = "missed-deadline"
}
