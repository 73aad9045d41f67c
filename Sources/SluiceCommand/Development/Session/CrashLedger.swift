/// Whether an engine that crashed is started again.
struct CrashLedger {
  enum Decision: Equatable { case restart, giveUp }

  /// The number of crashes of the same builds within the span that ends the restarts.
  static let limit = 3
  static let span = Duration.seconds(60)

  private var crashes: [Duration] = []

  /// - Parameters:
  ///   - goesBack: whether it will run other builds than the crashed ones, whose number is limited.
  ///   - wasReady: without, it would come no further the next time.
  mutating func note(at now: Duration, goesBack: Bool, wasReady: Bool) -> Decision {
    if goesBack {
      crashes = []
      return .restart
    }
    crashes = crashes.filter { now - $0 < Self.span } + [now]
    return wasReady && crashes.count < Self.limit ? .restart : .giveUp
  }

  /// Something was mended.
  mutating func clear() { crashes = [] }
}
