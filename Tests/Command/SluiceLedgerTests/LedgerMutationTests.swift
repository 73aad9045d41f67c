import SluiceLedger
import SluiceMessages
import SluicePipeline
import Testing

/// Makes every single change to valid logs of every kind. The checker must notice it, or the changed log must also be
/// valid.
@Suite struct LedgerMutationTests {
  private static func violation(_ log: [LedgerEntry]) -> LedgerViolation? {
    var checker = LedgerChecker()
    do {
      for entry in log { try checker.check(entry) }
      try checker.finish()
      return nil
    } catch { return error }
  }

  @Test func `the logs that the engine writes break no rule`() throws {
    for story in try LedgerStory.all() {
      #expect(Self.violation(story.log) == nil, "\(story.name)")
      #expect(story.log.last?.kind == .didComplete, "\(story.name)")
    }
  }

  @Test func `each single change to a log is noticed, or leaves a valid log`() throws {
    var reasons: Set<LedgerChange.Reason> = []
    for story in try LedgerStory.all() {
      for change in LedgerChange.all(to: story.log) {
        let violation = Self.violation(change.log)
        #expect((violation == nil) == (change.reason != nil), "\(story.name): \(change.name)")
        if let reason = change.reason { reasons.insert(reason) }
      }
    }
    #expect(reasons == Set(LedgerChange.Reason.allCases))
  }

  @Test func `without sequence numbers, the checker still notices most lost events`() throws {
    // The loss of these events can stay unnoticed, because a transaction need not have them.
    let expected: Set<TraceEvent.Kind> = [
      .didConfigure, .didIssue, .didReceiveInformational, .didValidateResponse, .willRetry,
    ]
    for story in try LedgerStory.all() {
      let log = story.log.map { entry in
        var entry = entry
        entry.sequence = nil
        return entry
      }
      #expect(Self.violation(log) == nil, "\(story.name)")
      for index in log.indices where !expected.contains(log[index].kind) && !Self.mayBeMissing(index, log) {
        var lost = log
        lost.remove(at: index)
        #expect(Self.violation(lost) != nil, "\(story.name): \(log[index].kind.name)")
      }
    }
  }

  /// Returns whether a log without this event is also valid. This is true for the end of a hop that was never issued,
  /// unless a will_retry follows it. A transaction can end, or a stage can answer, before a hop begins.
  private static func mayBeMissing(_ index: Int, _ log: [LedgerEntry]) -> Bool {
    let isIssued = log.contains {
      $0.kind == .didIssue && $0.attempt == log[index].attempt && $0.hop == log[index].hop
    }
    return log[index].kind == .didEndHop && !isIssued && log[index + 1].kind != .willRetry
  }
}
