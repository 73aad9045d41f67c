/// A clock that moves only when `advance` is called.
package final class ManualClock: Clock, Sendable {
  package struct Instant: InstantProtocol, CustomStringConvertible {
    /// Time since the clock was made.
    package let offset: Duration

    package init(offset: Duration) {
      self.offset = offset
    }

    package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    package func duration(to other: Instant) -> Duration { other.offset - offset }
    package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    package var description: String { "\(offset)" }
  }

  private struct Time: Sendable {
    var now = Instant(offset: .zero)
    var sleepers = 0
  }

  private let time = Watched(Time())

  package init() {}

  package var now: Instant { time.value.now }
  package var minimumResolution: Duration { .zero }
  /// The number of tasks that sleep on this clock.
  package var sleeperCount: Int { time.value.sleepers }

  /// Advances the time and wakes every task whose deadline has come.
  package func advance(by duration: Duration) {
    time.update { $0.now = $0.now.advanced(by: duration) }
  }

  package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    time.update { $0.sleepers += 1 }
    defer { time.update { $0.sleepers -= 1 } }
    do {
      // The wait has a limit in real time, so that a test without the needed `advance` fails instead of hanging.
      try await time.wait(upTo: .seconds(600), for: "the manual clock to reach \(deadline)") { $0.now >= deadline }
    } catch {
      try Task.checkCancellation()
      throw error
    }
  }

  /// Suspends until `count` tasks sleep on this clock, so that an `advance` finds them.
  package func waitForSleepers(_ count: Int = 1) async throws {
    try await time.wait(for: "\(count) sleepers") { $0.sleepers >= count }
  }
}
