/// Whether an engine that crashed is started again.
struct CrashLedger {
  enum Decision: Equatable { case restart, giveUp }

  /// This many crashes of the same builds within `span` end the restarts.
  static let limit = 3
  static let span = Duration.seconds(60)

  private var crashes: [Duration] = []

  /// - Parameters:
  /// - goesBack: whether the engine will run earlier builds than the crashed ones. Their number is limited.
  /// - wasReady: whether the engine had started; otherwise it would crash at the same point again.
  mutating func note(at now: Duration, goesBack: Bool, wasReady: Bool) -> Decision {
    if goesBack {
      crashes = []
      return .restart
    }
    crashes = crashes.filter { now - $0 < Self.span } + [now]
    return wasReady && crashes.count < Self.limit ? .restart : .giveUp
  }

  /// Forgets the crashes, because something has been fixed.
  mutating func clear() { crashes = [] }
}
