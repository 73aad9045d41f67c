/// Decides whether a crashed engine is started again.
struct CrashLedger {
  enum Decision: Equatable { case restart, giveUp }

  /// After this number of crashes of the same builds within `span`, the engine is not restarted.
  static let limit = 3
  static let span = Duration.seconds(60)

  private var crashes: [Duration] = []

  /// - Parameters:
  ///   - goesBack: whether the restarted engine will run earlier builds in the place of the crashed ones. Such restarts
  ///     are always allowed, because the number of earlier builds is limited.
  ///   - wasReady: whether the engine had finished its start; otherwise a restart would crash at the same point again.
  mutating func note(at now: Duration, goesBack: Bool, wasReady: Bool) -> Decision {
    if goesBack {
      crashes = []
      return .restart
    }
    crashes = crashes.filter { now - $0 < Self.span } + [now]
    return wasReady && crashes.count < Self.limit ? .restart : .giveUp
  }

  /// Forgets the crashes, because something may have been fixed.
  mutating func clear() { crashes = [] }
}
