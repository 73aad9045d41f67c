import SluiceMessages
import SluicePipeline
import Testing

/// The rules of the ledger, on logs of literals.
@Suite struct LedgerCheckerTests {
  private static let id = TransactionID(randomHigh: 1, randomLow: 1)
  private static let other = TransactionID(randomHigh: 2, randomLow: 2)

  private static func entry(
    _ kind: TraceEvent.Kind, _ time: UInt64, _ id: TransactionID = id, attempt: Int = 0, hop: Int = 0,
    status: Int? = nil
  ) -> LedgerEntry {
    let isBeforeResponse = [.willExecute, .didConfigure, .didIssue].contains(kind)
    var entry = LedgerEntry(
      kind, id, at: Instant(nanoseconds: time), attempt: attempt, hop: hop,
      status: status ?? (isBeforeResponse ? 0 : 200), requestID: "r")
    if kind == .didComplete {
      entry.outcome = .succeeded
      entry.duration = .nanoseconds(Int64(time))
    }
    return entry
  }

  private static func failed(_ time: UInt64, attempt: Int = 0, hop: Int = 0, status: Int = 0) -> LedgerEntry {
    var entry = entry(.didComplete, time, attempt: attempt, hop: hop, status: status)
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
      Self.entry(.didReceive, 17, attempt: 1, status: 302), Self.entry(.willRedirect, 18, attempt: 1, status: 302),
      Self.entry(.didIssue, 19, attempt: 1, hop: 1), Self.entry(.didReceive, 20, attempt: 1, hop: 1),
      Self.entry(.didValidateResponse, 21, attempt: 1, hop: 1), Self.entry(.didExtract, 21, attempt: 1, hop: 1),
      Self.entry(.didValidatePayload, 21, attempt: 1, hop: 1), Self.entry(.didComplete, 21, attempt: 1, hop: 1),
    ]
    #expect(Self.violation(log) == nil)
  }

  @Test func `E2: a transaction may end wherever it is, and a hop may lack its response`() {
    let beginning = Self.success().prefix(4)
    for count in 1...3 { #expect(Self.violation(beginning.prefix(count) + [Self.failed(9)]) == nil) }
    #expect(Self.violation(beginning + [Self.failed(9, status: 200)]) == nil)
    let retry = beginning.prefix(3) + [Self.entry(.willRetry, 3, status: 0)]
    #expect(Self.violation(retry + [Self.failed(9)]) == nil)
    #expect(Self.violation(retry + [Self.failed(9, attempt: 1)]) == nil)
    let challenged = beginning.prefix(3) + [Self.entry(.didReceive, 3, status: 401)]
    #expect(Self.violation(challenged + [Self.failed(9, hop: 1)]) == nil)
  }

  @Test func `E2: a stage may answer in place of a hop that was never issued`() {
    let hop =
      Self.success().prefix(3)
      + [Self.entry(.didReceive, 3, status: 302), Self.entry(.willRedirect, 3, status: 302)]
    let kinds: [TraceEvent.Kind] = [.didValidateResponse, .didExtract, .didValidatePayload, .didComplete]
    func answered(hop: Int) -> [LedgerEntry] {
      kinds.map { kind in
        var entry = Self.entry(kind, 9, hop: hop)
        entry.receivedStatus = 0
        return entry
      }
    }
    #expect(Self.violation(hop + answered(hop: 1)) == nil)
    #expect(Self.violation(hop + answered(hop: 2))?.rule == .numbering)
  }

  @Test func `a status is the one that was received, or is said to be another`() {
    for index in [0, 1, 2] { #expect(Self.violation(Self.changed(index) { $0.status = 200 })?.rule == .status) }
    for index in 3...7 { #expect(Self.violation(Self.changed(index) { $0.status = 404 })?.rule == .status) }
    #expect(Self.violation(Self.changed(3) { $0.status = 0 })?.rule == .status)
    for index in 4...7 { #expect(Self.violation(Self.changed(index) { $0.receivedStatus = 304 })?.rule == .status) }
    let confirmed = Self.success().map { entry in
      var entry = entry
      if entry.kind == .didReceive { entry.status = 304 }
      if entry.status == 200 { entry.receivedStatus = 304 }
      return entry
    }
    #expect(Self.violation(confirmed) == nil)
    var missing = confirmed
    missing.remove(at: 3)
    #expect(Self.violation(missing)?.rule == .status)
  }

  @Test func `a response that is validated was received, or comes from a stage`() {
    var log = Self.success()
    log.remove(at: 3)
    #expect(Self.violation(log)?.message.contains("hop 0 has no did_receive") == true)
    for index in 3..<log.count { log[index].receivedStatus = 0 }
    #expect(Self.violation(log) == nil)
  }

  @Test(arguments: [(302, true), (401, false), (407, false), (308, true)])
  func `a hop follows a redirect that was told, or a challenge`(status: Int, isRedirect: Bool) {
    let hop = Self.success().prefix(3) + [Self.entry(.didReceive, 3, status: status)]
    let redirect = Self.entry(.willRedirect, 4, status: status)
    let next = Self.entry(.didIssue, 5, hop: 1)
    #expect((Self.violation(hop + [next, Self.failed(6, hop: 1)]) == nil) == !isRedirect)
    #expect((Self.violation(hop + [redirect, next, Self.failed(6, hop: 1)]) == nil) == isRedirect)
    #expect(Self.violation(hop + [redirect, redirect])?.rule == .order)
    #expect(Self.violation(hop + [Self.failed(6, hop: 1)])?.rule == (isRedirect ? .order : nil))
  }

  @Test(arguments: [200, 300, 304, 403])
  func `no hop follows another response`(status: Int) {
    let hop = Self.success().prefix(3) + [Self.entry(.didReceive, 3, status: status)]
    #expect(Self.violation(hop + [Self.entry(.didIssue, 5, hop: 1)])?.rule == .numbering)
    #expect(Self.violation(hop + [Self.entry(.willRedirect, 4, status: status)])?.rule == .order)
  }

  @Test func `the events of a transaction are counted, or none is`() {
    func counted(_ numbers: [Int?]) -> [LedgerEntry] {
      zip(Self.success(), numbers).map { entry, number in
        var entry = entry
        entry.sequence = number
        return entry
      }
    }
    #expect(Self.violation(counted([0, 1, 2, 3, 4, 5, 6, 7])) == nil)
    for numbers in [[1], [0, 2], [0, nil], [nil, 0], [0, 1, 1]] as [[Int?]] {
      let violation = Self.violation(counted(numbers))
      #expect(violation?.rule == .numbering)
      #expect(violation?.line == numbers.count)
    }
  }

  @Test func `the request stays the same in a hop, and over a challenge`() {
    func log(_ urls: [String], _ status: Int) -> [LedgerEntry] {
      var log = [Self.entry(.willExecute, 0), Self.entry(.didConfigure, 1), Self.entry(.didIssue, 2)]
      log.append(Self.entry(.didReceive, 3, status: status))
      if status == 302 { log.append(Self.entry(.willRedirect, 4, status: status)) }
      log += [Self.entry(.didIssue, 5, hop: 1), Self.failed(6, hop: 1)]
      for index in log.indices { log[index].url = urls[index] }
      return log
    }
    #expect(Self.violation(log(["a", "b", "b", "b", "b", "c", "c"], 302)) == nil)
    #expect(Self.violation(log(["a", "b", "b", "b", "b", "b"], 401)) == nil)
    for urls in [["a", "b", "c", "b", "b", "b"], ["a", "b", "b", "b", "c", "c"]] {
      #expect(Self.violation(log(urls, 401))?.rule == .identity)
    }
    #expect(Self.violation(Self.changed(5) { $0.method = "PUT" })?.rule == .identity)
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
      // Without a did_receive it is the response of a stage.
      if index > 3, !order.contains(3) { entry.receivedStatus = 0 }
      return entry
    }
    let violation = Self.violation(log)
    #expect(violation?.line == order.count)
    #expect(violation?.rule == .order || violation?.rule == .numbering)
  }

  @Test func `E3: a validated payload means success, and success a validated payload`() {
    var cancelled = Self.success()
    cancelled[7] = Self.failed(7, status: 200)
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
    for index in 0...6 { #expect(Self.violation(Self.changed(index) { $0.errorCode = "code" })?.rule == .outcome) }
    for index in 1...6 {
      #expect(Self.violation(Self.changed(index) { $0.duration = .nanoseconds(1) })?.rule == .timing)
    }
  }

  @Test func `a cancellation is the engine's error of that name, and no other`() {
    func log(_ outcome: TransactionOutcome, _ code: String, _ stage: String?) -> [LedgerEntry] {
      var end = Self.failed(1)
      (end.outcome, end.errorCode, end.errorStage) = (outcome, code, stage)
      return [Self.entry(.willExecute, 0), end]
    }
    #expect(Self.violation(log(.cancelled, "cancelled", nil)) == nil)
    #expect(Self.violation(log(.failed, "cancelled", "stage")) == nil)
    #expect(Self.violation(log(.failed, "cancelled", nil))?.rule == .outcome)
    #expect(Self.violation(log(.cancelled, "cancelled", "stage"))?.rule == .outcome)
    #expect(Self.violation(log(.cancelled, "connect", nil))?.rule == .outcome)
    #expect(Self.violation([Self.entry(.willExecute, 0), Self.stageAlone])?.rule == .outcome)
  }

  private static let stageAlone: LedgerEntry = {
    var retry = entry(.willRetry, 1, status: 0)
    retry.errorStage = "stage"
    return retry
  }()

  @Test func `an attempt that fails on the wire was configured`() {
    var retry = Self.entry(.willRetry, 1, status: 0)
    #expect(Self.violation([Self.entry(.willExecute, 0), retry, Self.failed(2)]) == nil)
    retry.errorCode = "connect"
    #expect(Self.violation([Self.entry(.willExecute, 0), retry])?.rule == .order)
    var end = Self.failed(1)
    end.timings = TransferTimings()
    #expect(Self.violation([Self.entry(.willExecute, 0), end])?.rule == .timing)
  }

  @Test func `timings are in did_receive and did_complete, and not lost between them`() {
    for index in [1, 2, 4, 5, 6] {
      #expect(Self.violation(Self.changed(index) { $0.timings = TransferTimings() })?.rule == .timing)
    }
    var log = Self.changed(3) { $0.timings = TransferTimings() }
    #expect(Self.violation(log)?.rule == .timing)
    log[7].timings = TransferTimings()
    #expect(Self.violation(log) == nil)
  }

  @Test func `attempts and hops have no gap`() {
    for index in 0...7 { #expect(Self.violation(Self.changed(index) { $0.attempt = 1 })?.rule == .numbering) }
    for index in [0, 1, 2, 3] { #expect(Self.violation(Self.changed(index) { $0.hop = 1 })?.rule == .numbering) }
    for index in [4, 5, 6, 7] { #expect(Self.violation(Self.changed(index) { $0.hop = 1 })?.rule == .numbering) }
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
    var log = Self.changed(3) { $0.timings = timings }
    log[7].timings = timings
    #expect(Self.violation(log) == nil)
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
