/// Delays the report of a change until the subject has not changed for a moment, because a linker, an editor or `cp`
/// changes a file more than once. The delay is bounded, because some files change all the time.
struct Debounce<Subject: Hashable> {
  private struct Wait {
    let since: Duration
    var due: Duration
  }

  /// The longest delay. After this time, a change is reported even if the subject still changes.
  let longest: Duration
  private var waits: [Subject: Wait] = [:]

  init(longest: Duration = .milliseconds(500)) { self.longest = longest }

  /// - Parameters:
  ///   - now: the time by a monotonic clock, as in all calls.
  ///   - silence: how long the subject must stay unchanged, counted from now.
  mutating func note(_ subject: Subject, at now: Duration, silence: Duration) {
    let since = waits[subject]?.since ?? now
    waits[subject] = Wait(since: since, due: min(now + silence, since + longest))
  }

  /// When the next change is due.
  var nextDue: Duration? { waits.values.map(\.due).min() }

  /// Takes the changes that are due, each with the time of its first change.
  mutating func takeDue(at now: Duration) -> [Subject: Duration] {
    let due = waits.filter { $0.value.due <= now }.mapValues(\.since)
    for subject in due.keys { waits[subject] = nil }
    return due
  }
}
