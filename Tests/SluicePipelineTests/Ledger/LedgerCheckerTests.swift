import SluiceMessages
import SluicePipeline
import Testing

/// The rules of the ledger, on logs of literals.
@Suite struct LedgerCheckerTests {
  private static let id = TransactionID(randomHigh: 1, randomLow: 1)
  private static let other = TransactionID(randomHigh: 2, randomLow: 2)

  private static func entry(
    _ kind: TraceEvent.Kind, _ time: UInt64, _ id: TransactionID = id, attempt: Int = 0, hop: Int = 0, status: Int = 200
  ) -> LedgerEntry {
    var entry = LedgerEntry(
      kind, id, at: Instant(nanoseconds: time), attempt: attempt, hop: hop, status: status, requestID: "r")
    if kind == .didComplete {
      entry.outcome = .succeeded
      entry.duration = .nanoseconds(Int64(time))
    }
    return entry
  }

  private static func failed(_ time: UInt64, attempt: Int = 0, hop: Int = 0) -> LedgerEntry {
    var entry = entry(.didComplete, time, attempt: attempt, hop: hop)
    entry.outcome = .failed
    entry.errorCode = "code"
    return entry
  }

  /// A transaction that succeeds, one event a nanosecond.
  private static func success(_ id: TransactionID = id) -> [LedgerEntry] {
    let kinds: [TraceEvent.Kind] = [
      .willExecute, .didConfigure, .didIssue, .didReceive, .didValidateResponse, .didExtract, .didValidatePayload,
      .didComplete,
    ]
    return kinds.enumerated().map { entry($1, UInt64($0), id) }
  }

  private static func violation(_ log: [LedgerEntry]) -> LedgerViolation? {
    var checker = LedgerChecker()
    do {
      for entry in log { try checker.check(entry) }
      try checker.finish()
      return nil
    } catch { return error }
  }

  private static func changed(_ index: Int, _ change: (inout LedgerEntry) -> Void) -> [LedgerEntry] {
    var log = success()
    change(&log[index])
    return log
  }

  @Test func `E1: the eight events in order break no rule`() {
    #expect(Self.violation(Self.success()) == nil)
    #expect(Self.violation([]) == nil)
  }

  @Test func `E1: transactions may be mixed`() {
    let mixed = zip(Self.success(), Self.success(Self.other)).flatMap { [$0, $1] }
    #expect(Self.violation(mixed) == nil)
  }

  @Test func `E1: attempts, hops and informational responses are part of it`() {
    var retry = Self.entry(.willRetry, 5)
    retry.duration = .nanoseconds(10)
    let log = [
      Self.entry(.willExecute, 0), Self.entry(.didConfigure, 1), Self.entry(.didIssue, 2),
      Self.entry(.didReceiveInformational, 3, status: 103), Self.entry(.didReceive, 4), retry,
      Self.entry(.didConfigure, 15, attempt: 1), Self.entry(.didIssue, 16, attempt: 1),
      Self.entry(.didReceive, 17, attempt: 1, status: 302), Self.entry(.willRedirect, 18, attempt: 1),
      Self.entry(.didIssue, 19, attempt: 1, hop: 1), Self.entry(.didReceive, 20, attempt: 1, hop: 1),
      Self.entry(.didValidateResponse, 21, attempt: 1, hop: 1), Self.entry(.didExtract, 21, attempt: 1, hop: 1),
      Self.entry(.didValidatePayload, 21, attempt: 1, hop: 1), Self.entry(.didComplete, 21, attempt: 1, hop: 1),
    ]
    #expect(Self.violation(log) == nil)
  }

  @Test func `E2: a transaction may end wherever it is, and a hop may lack its response`() {
    let beginning = Self.success().prefix(4)
    for count in 1...4 { #expect(Self.violation(beginning.prefix(count) + [Self.failed(9)]) == nil) }
    let retry = beginning.prefix(3) + [Self.entry(.willRetry, 3)]
    #expect(Self.violation(retry + [Self.failed(9)]) == nil)
    #expect(Self.violation(retry + [Self.failed(9, attempt: 1)]) == nil)
    #expect(Self.violation(beginning + [Self.failed(9, hop: 1)]) == nil)
  }

  @Test func `E2: a stage may answer in place of a hop that was never issued`() {
    let hop = Self.success().prefix(4) + [Self.entry(.willRedirect, 3)]
    let kinds: [TraceEvent.Kind] = [.didValidateResponse, .didExtract, .didValidatePayload, .didComplete]
    #expect(Self.violation(hop + kinds.map { Self.entry($0, 9, hop: 1) }) == nil)
    #expect(Self.violation(hop + kinds.map { Self.entry($0, 9, hop: 2) })?.rule == .numbering)
  }

  @Test func `E2: a missing end names the line of the beginning`() throws {
    let violation = try #require(Self.violation(Self.success() + [Self.entry(.willExecute, 0, Self.other)]))
    #expect(violation.rule == .balance)
    #expect(violation.line == 9)
    #expect(violation.transaction == Self.other)
  }

  @Test func `E2: nothing comes before the beginning, after the end, or twice`() {
    for index in 1...7 { #expect(Self.violation([Self.success()[index]])?.rule == .balance) }
    for index in 0...7 {
      let violation = Self.violation(Self.success() + [Self.success()[index]])
      #expect(violation?.rule == .balance)
      #expect(violation?.line == 9)
      #expect(violation?.message.contains("after the did_complete of line 8") == true)
    }
    #expect(Self.violation([Self.entry(.willExecute, 0), Self.entry(.willExecute, 1)])?.rule == .balance)
  }

  @Test(arguments: [
    [0, 2], [0, 3], [0, 1, 3], [0, 1, 1], [0, 1, 2, 3, 3], [0, 1, 2, 3, 2], [0, 5], [0, 4, 6], [0, 4, 4],
    [0, 4, 1], [0, 1, 2, 3, 4, 3], [0, 1, 2, 3, 4, 5, 6, 6],
  ])
  func `E2: what needs another event before it does not come without it`(_ order: [Int]) {
    let log = order.enumerated().map { place, index in
      var entry = Self.success()[index]
      entry.time = Instant(nanoseconds: UInt64(place))
      return entry
    }
    let violation = Self.violation(log)
    #expect(violation?.line == order.count)
    #expect(violation?.rule == .order || violation?.rule == .numbering)
  }

  @Test func `E3: a validated payload means success, and success a validated payload`() {
    var cancelled = Self.success()
    cancelled[7] = Self.failed(7)
    #expect(Self.violation(cancelled)?.rule == .outcome)
    var skipped = Self.success()
    skipped.remove(at: 6)
    #expect(Self.violation(skipped)?.rule == .outcome)
  }

  @Test func `an end has an outcome, an error where it failed, and the right duration`() {
    #expect(Self.violation(Self.changed(7) { $0.outcome = nil })?.rule == .outcome)
    #expect(Self.violation(Self.changed(7) { $0.errorCode = "code" })?.rule == .outcome)
    #expect(Self.violation(Self.changed(7) { $0.duration = .nanoseconds(8) })?.rule == .timing)
    #expect(Self.violation(Self.changed(3) { $0.outcome = .failed })?.rule == .outcome)
    #expect(Self.violation(Self.changed(3) { $0.status = 0 })?.rule == .outcome)
  }

  @Test func `attempts and hops have no gap`() {
    for index in 0...7 { #expect(Self.violation(Self.changed(index) { $0.attempt = 1 })?.rule == .numbering) }
    for index in [0, 1, 2, 3] { #expect(Self.violation(Self.changed(index) { $0.hop = 1 })?.rule == .numbering) }
    let again = Self.success().prefix(4) + [Self.entry(.willRetry, 5), Self.entry(.didConfigure, 6, attempt: 2)]
    #expect(Self.violation(Array(again))?.rule == .numbering)
    let same = Self.success().prefix(4) + [Self.entry(.willRetry, 5), Self.entry(.didIssue, 6)]
    #expect(Self.violation(Array(same))?.rule == .numbering)
  }

  @Test func `the request id stays the same`() {
    #expect(Self.violation(Self.changed(3) { $0.requestID = "s" })?.rule == .identity)
  }

  @Test func `times do not go back, and a retry waits for its delay`() {
    #expect(Self.violation(Self.changed(4) { $0.time = Instant(nanoseconds: 2) })?.rule == .timing)
    var retry = Self.entry(.willRetry, 5)
    retry.duration = .nanoseconds(10)
    let log = Self.success().prefix(4) + [retry, Self.entry(.didConfigure, 14, attempt: 1)]
    #expect(Self.violation(Array(log))?.message.contains("1 ns before the delay") == true)
  }

  @Test func `phases fit into the time that has passed`() {
    var timings = TransferTimings()
    timings.wait = .milliseconds(1)
    #expect(Self.violation(Self.changed(3) { $0.timings = timings }) == nil)
    timings.connect = .nanoseconds(3)
    #expect(Self.violation(Self.changed(3) { $0.timings = timings })?.rule == .timing)
    #expect(Self.violation(Self.changed(7) { $0.timings = timings }) == nil)
    timings.connect = .nanoseconds(8)
    #expect(Self.violation(Self.changed(7) { $0.timings = timings })?.rule == .timing)
  }

  @Test func `ends that lie far back are forgotten, so that memory is bounded`() throws {
    var checker = LedgerChecker()
    for number in 0..<70_000 {
      let id = TransactionID(randomHigh: UInt64(number) << 16, randomLow: 7)
      for entry in Self.success(id) { try checker.check(entry) }
    }
    try checker.finish()
    #expect(checker.transactions == 70_000)
    #expect(checker.events == 560_000)
  }
}
