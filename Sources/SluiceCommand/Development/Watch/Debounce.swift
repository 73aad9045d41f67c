/// Holds changes back until none has come for a moment, because a linker, an editor or `cp` changes a file more than
/// once. The delay is bounded, because some files change all the time.
struct Debounce<Subject: Hashable> {
  private struct Wait {
    let since: Duration
    var due: Duration
  }

  /// After which it is told all the same.
  let longest: Duration
  private var waits: [Subject: Wait] = [:]

  init(longest: Duration = .milliseconds(500)) { self.longest = longest }

  /// - Parameters:
  ///   - now: by a clock that only goes forward, as in all calls.
  ///   - silence: how long nothing may happen to it from now on.
  mutating func note(_ subject: Subject, at now: Duration, silence: Duration) {
    let since = waits[subject]?.since ?? now
    waits[subject] = Wait(since: since, due: min(now + silence, since + longest))
  }

  /// When there will be something to take.
  var nextDue: Duration? { waits.values.map(\.due).min() }

  /// What is due, with the moment of its first change.
  mutating func takeDue(at now: Duration) -> [Subject: Duration] {
    let due = waits.filter { $0.value.due <= now }.mapValues(\.since)
    for subject in due.keys { waits[subject] = nil }
    return due
  }
}
