import Testing

@testable import SluicePipeline

/// The deadlines that share the timer of a transaction.
@Suite struct DeadlinesTests {
  private static func at(_ seconds: Int) -> Instant { Instant(nanoseconds: UInt64(seconds) * 1_000_000_000) }

  @Test func `without a deadline, nothing is due`() {
    let deadlines = Deadlines()
    #expect(deadlines.nearest == .distantFuture)
    #expect(deadlines.due(at: Self.at(1_000_000)) == nil)
  }

  @Test func `the nearest deadline sets the timer, and of several that are due, a stage is served first`() {
    var deadlines = Deadlines()
    (deadlines.idle, deadlines.attempt) = (Self.at(4), Self.at(5))
    #expect(deadlines.nearest == Self.at(4))
    #expect(deadlines.due(at: Self.at(3)) == nil)
    #expect(deadlines.due(at: Self.at(4)) == .idle)
    #expect(deadlines.due(at: Self.at(5)) == .attempt)
    deadlines.retry = Self.at(6)
    #expect(deadlines.due(at: Self.at(6)) == .retry)
    deadlines.stage = Self.at(6)
    #expect(deadlines.due(at: Self.at(6)) == .stage)
    #expect(deadlines.nearest == Self.at(4))
  }

  @Test func `the clock of the attempt stands while it is stopped`() {
    var deadlines = Deadlines()
    deadlines.attempt = Self.at(10)
    deadlines.runAttempt(false, at: Self.at(3))
    #expect(deadlines.isAttemptStopped && deadlines.nearest == .distantFuture)
    // Stopped twice, and continued twice.
    deadlines.runAttempt(false, at: Self.at(4))
    deadlines.runAttempt(true, at: Self.at(20))
    deadlines.runAttempt(true, at: Self.at(21))
    #expect(!deadlines.isAttemptStopped && deadlines.attempt == Self.at(27))
    deadlines.runAttempt(false, at: Self.at(22))
    deadlines.endAttempt()
    deadlines.runAttempt(true, at: Self.at(23))
    #expect(deadlines.attempt == .distantFuture)
  }

  @Test func `an attempt without a limit has no clock to stop`() {
    var deadlines = Deadlines()
    deadlines.runAttempt(false, at: Self.at(1))
    #expect(!deadlines.isAttemptStopped && deadlines.attempt == .distantFuture)
  }
}
