/// A clock that moves only when told to.
public final class ManualClock: Clock, Sendable {
  public struct Instant: InstantProtocol, CustomStringConvertible {
    /// Time since the clock was made.
    public let offset: Duration

    public init(offset: Duration) {
      self.offset = offset
    }

    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    public var description: String { "\(offset)" }
  }

  private struct Time: Sendable {
    var now = Instant(offset: .zero)
    var sleepers = 0
  }

  private let time = Watched(Time())

  public init() {}

  public var now: Instant { time.value.now }
  public var minimumResolution: Duration { .zero }
  /// Tasks asleep on this clock.
  public var sleeperCount: Int { time.value.sleepers }

  /// Moves the time on and wakes every sleeper whose deadline has come.
  public func advance(by duration: Duration) {
    time.update { $0.now = $0.now.advanced(by: duration) }
  }

  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    time.update { $0.sleepers += 1 }
    defer { time.update { $0.sleepers -= 1 } }
    do {
      // A real limit only so that a forgotten `advance` fails the test instead of hanging it.
      try await time.wait(upTo: .seconds(600), for: "the manual clock to reach \(deadline)") { $0.now >= deadline }
    } catch {
      try Task.checkCancellation()
      throw error
    }
  }

  /// Suspends until `count` tasks sleep on this clock, so that an `advance` finds them.
  public func waitForSleepers(_ count: Int = 1) async throws {
    try await time.wait(for: "\(count) sleepers") { $0.sleepers >= count }
  }
}
