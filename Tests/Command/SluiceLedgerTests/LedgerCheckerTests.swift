import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluiceTraceContext
import Testing

/// The rules of the ledger, applied to literal logs.
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
    if kind == .didEndHop { entry.duration = .nanoseconds(2) }
    return entry
  }

  /// Returns the end of a hop that failed after `took` nanoseconds.
  private static func broken(
    _ time: UInt64, took: Int64, attempt: Int = 0, hop: Int = 0, status: Int = 0
  ) -> LedgerEntry {
    var entry = entry(.didEndHop, time, attempt: attempt, hop: hop, status: status)
    entry.duration = .nanoseconds(took)
    entry.errorCode = "code"
    return entry
  }

  private static func failed(_ time: UInt64, attempt: Int = 0, hop: Int = 0, status: Int = 0) -> LedgerEntry {
    var entry = entry(.didComplete, time, attempt: attempt, hop: hop, status: status)
    entry.outcome = .failed
    entry.errorCode = "code"
    return entry
  }

  /// Returns the log of a transaction that succeeds, with one event each nanosecond. Its hop begins with `didIssue`.
  private static func success(_ id: TransactionID = id) -> [LedgerEntry] {
    let kinds: [TraceEvent.Kind] = [
      .willExecute, .didConfigure, .didIssue, .didReceive, .didEndHop, .didValidateResponse, .didExtract,
      .didValidatePayload, .didComplete,
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

  @Test func `the events of a success in order break no rule`() {
    #expect(Self.violation(Self.success()) == nil)
    #expect(Self.violation([]) == nil)
  }

  @Test func `events of several transactions can be interleaved`() {
    let mixed = zip(Self.success(), Self.success(Self.other)).flatMap { [$0, $1] }
    #expect(Self.violation(mixed) == nil)
  }

  @Test func `attempts, hops and informational responses break no rule`() {
    var retry = Self.entry(.willRetry, 5)
    retry.duration = .nanoseconds(10)
    var log = [
      Self.entry(.willExecute, 0), Self.entry(.didConfigure, 1), Self.entry(.didIssue, 2),
      Self.entry(.didReceiveInformational, 3, status: 103), Self.entry(.didReceive, 4), Self.entry(.didEndHop, 4),
      retry,
      Self.entry(.didConfigure, 15, attempt: 1), Self.entry(.didIssue, 16, attempt: 1),
      Self.entry(.didReceive, 17, attempt: 1, status: 302), Self.entry(.willRedirect, 18, attempt: 1, status: 302),
      Self.entry(.didEndHop, 18, attempt: 1, status: 302), Self.entry(.didIssue, 19, attempt: 1, hop: 1),
      Self.entry(.didReceive, 20, attempt: 1, hop: 1), Self.entry(.didEndHop, 21, attempt: 1, hop: 1),
      Self.entry(.didValidateResponse, 21, attempt: 1, hop: 1), Self.entry(.didExtract, 21, attempt: 1, hop: 1),
      Self.entry(.didValidatePayload, 21, attempt: 1, hop: 1), Self.entry(.didComplete, 21, attempt: 1, hop: 1),
    ]
    #expect(Self.violation(log) == nil)
    // At that time, a stage was deciding about the redirect.
    log.swapAt(10, 11)
    log[10].time = Instant(nanoseconds: 17)
    log[10].duration = .nanoseconds(1)
    #expect(Self.violation(log) == nil)
  }

  /// Returns a log in which the server refuses the request. The request is sent again in the next hop, `pause`
  /// nanoseconds later.
  private static func resent(after pause: UInt64, at time: UInt64) -> [LedgerEntry] {
    var refused = broken(3, took: 1)
    var retry = entry(.willRetry, 3, status: 0)
    refused.errorCode = .notProcessed
    retry.errorCode = .notProcessed
    retry.duration = .nanoseconds(Int64(pause))
    return [
      entry(.willExecute, 0), entry(.didConfigure, 1), entry(.didIssue, 2), refused, retry,
      entry(.didIssue, time, hop: 1), entry(.didReceive, time + 1, hop: 1), entry(.didEndHop, time + 2, hop: 1),
      entry(.didValidateResponse, time + 2, hop: 1), entry(.didExtract, time + 2, hop: 1),
      entry(.didValidatePayload, time + 2, hop: 1), entry(.didComplete, time + 2, hop: 1),
    ]
  }

  @Test(arguments: [UInt64(0), 10])
  func `an unprocessed request is sent again in the same attempt, after the announced pause`(_ pause: UInt64) {
    #expect(Self.violation(Self.resent(after: pause, at: 3 + pause)) == nil)
  }

  @Test func `an unprocessed request is not sent again before the announced pause has passed`() throws {
    let violation = try #require(Self.violation(Self.resent(after: 10, at: 12)))
    #expect(violation.rule == .timing)
    #expect("\(violation)".contains("did_issue comes 1 ns before the delay of will_retry has passed"))
  }

  private static func span(_ time: UInt64, id: UInt64 = 1, _ start: UInt64, _ end: UInt64) -> LedgerEntry {
    var entry = entry(.didEndSpan, time, status: 0)
    entry.span = LedgerSpan(
      traceID: TraceID(high: 1, low: 1), id: id, start: Instant(nanoseconds: start), end: Instant(nanoseconds: end))
    return entry
  }

  @Test func `spans can end at any place between the first and the last event`() {
    for index in 1..<Self.success().count {
      var log = Self.success()
      log.insert(Self.span(UInt64(index), 0, UInt64(index)), at: index)
      #expect(Self.violation(log) == nil, "\(index)")
      log.insert(Self.span(UInt64(index), id: 2, 1, 1), at: index)
      #expect(Self.violation(log) == nil, "\(index)")
    }
    for index in [0, Self.success().count] {
      var log = Self.success()
      log.insert(Self.span(UInt64(index), 0, 0), at: index)
      #expect(Self.violation(log)?.rule == .balance)
    }
  }

  @Test func `a span ends once, within the time of its transaction, in the current attempt and hop`() {
    func rule(_ span: LedgerEntry, twice: Bool = false) -> LedgerViolation.Rule? {
      var log = Self.success()
      log.insert(contentsOf: twice ? [span, span] : [span], at: 4)
      return Self.violation(log)?.rule
    }
    #expect(rule(Self.span(4, 1, 3)) == nil)
    #expect(rule(Self.span(4, 1, 3), twice: true) == .identity)
    #expect(rule(Self.span(4, 3, 1)) == .timing)
    #expect(rule(Self.span(4, 1, 5)) == .timing)
    #expect(rule(Self.span(2, 1, 2)) == .timing)
    var changed = Self.span(4, 1, 3)
    changed.span?.parentID = 1
    #expect(rule(changed) == .identity)
    changed = Self.span(4, 1, 3)
    changed.span = nil
    #expect(rule(changed) == .identity)
    changed = Self.span(4, 1, 3)
    changed.status = 200
    #expect(rule(changed) == .status)
    for (attempt, hop) in [(1, 0), (0, 1)] {
      changed = Self.span(4, 1, 3)
      (changed.attempt, changed.hop) = (attempt, hop)
      #expect(rule(changed) == .numbering)
    }
    changed = Self.entry(.didReceive, 3)
    changed.span = Self.span(3, 1, 2).span
    #expect(rule(changed) == .identity)
  }

  @Test func `a transaction can end at any step, and a hop can lack its response`() {
    let beginning = Self.success().prefix(5)
    for count in [1, 2, 5] {
      #expect(Self.violation(beginning.prefix(count) + [Self.failed(9, status: count == 5 ? 200 : 0)]) == nil)
    }
    #expect(Self.violation(beginning.prefix(2) + [Self.broken(9, took: 8), Self.failed(9)]) == nil)
    #expect(Self.violation(beginning.prefix(3) + [Self.broken(9, took: 8), Self.failed(9)]) == nil)
    #expect(
      Self.violation(beginning.prefix(4) + [Self.broken(9, took: 8, status: 200), Self.failed(9, status: 200)]) == nil)
    let retry = beginning.prefix(3) + [Self.broken(3, took: 1), Self.entry(.willRetry, 3, status: 0)]
    #expect(Self.violation(retry + [Self.failed(9)]) == nil)
    #expect(Self.violation(retry + [Self.failed(9, attempt: 1)]) == nil)
    let challenged =
      beginning.prefix(3) + [Self.entry(.didReceive, 3, status: 401), Self.entry(.didEndHop, 4, status: 401)]
    #expect(Self.violation(challenged + [Self.failed(9, hop: 1)]) == nil)
  }

  @Test func `if a hop fails before it is issued, a stage can answer in its place`() {
    let hop =
      Self.success().prefix(3)
      + [Self.entry(.didReceive, 3, status: 302), Self.entry(.willRedirect, 3, status: 302)]
      + [Self.entry(.didEndHop, 4, status: 302)]
    let kinds: [TraceEvent.Kind] = [.didValidateResponse, .didExtract, .didValidatePayload, .didComplete]
    func answered(hop: Int) -> [LedgerEntry] {
      kinds.map { kind in
        var entry = Self.entry(kind, 9, hop: hop)
        entry.receivedStatus = 0
        return entry
      }
    }
    #expect(Self.violation(hop + [Self.broken(9, took: 5, hop: 1)] + answered(hop: 1)) == nil)
    #expect(Self.violation(hop + answered(hop: 2))?.rule == .numbering)
  }

  @Test func `an issued hop ends exactly once, and other events come only before or after it`() {
    let hop = Self.success().prefix(4)
    for index in 5...7 { #expect(Self.violation(hop + [Self.success()[index]])?.rule == .order) }
    #expect(Self.violation(hop + [Self.entry(.willRetry, 5)])?.rule == .order)
    #expect(Self.violation(hop + [Self.failed(5, status: 200)])?.rule == .order)
    let ended = Array(Self.success().prefix(5))
    for index in [2, 3, 4] { #expect(Self.violation(ended + [Self.success()[index].at(5)])?.rule == .order) }
    #expect(Self.violation(ended + [Self.entry(.didReceiveInformational, 5, status: 103)])?.rule == .order)
    let redirected = Self.success().prefix(3) + [Self.entry(.didReceive, 3, status: 302)]
    let redirect = Self.entry(.willRedirect, 4, status: 302)
    #expect(Self.violation(redirected + [redirect, Self.entry(.didIssue, 5, hop: 1)])?.rule == .order)
    #expect(Self.violation([Self.entry(.willExecute, 0), Self.broken(1, took: 0)])?.rule == .order)
    let waiting = ended + [Self.entry(.willRetry, 5)]
    #expect(Self.violation(waiting + [Self.broken(6, took: 0, attempt: 1)])?.rule == .order)
    #expect(Self.violation(waiting + [Self.broken(6, took: 4, status: 200)])?.rule == .numbering)
  }

  @Test func `a hop without a response has an error, and a response that broke off is not validated`() {
    for count in 2...3 {
      var end = Self.broken(4, took: 2)
      end.errorCode = nil
      #expect(Self.violation(Self.success().prefix(count) + [end])?.rule == .order)
    }
    #expect(Self.violation(Self.changed(4) { $0.errorCode = "code" })?.rule == .order)
    let head =
      Self.success().prefix(3) + [Self.entry(.didReceive, 3, status: 302), Self.broken(4, took: 2, status: 302)]
    #expect(Self.violation(head + [Self.entry(.willRedirect, 4, status: 302), Self.failed(5, hop: 1)]) == nil)
  }

  @Test func `a hop begins between did_configure and did_issue, and its duration counts from there to its end`() {
    for took in 2...3 { #expect(Self.violation(Self.changed(4) { $0.duration = .nanoseconds(took) }) == nil) }
    for took in [0, 1, 4] {
      #expect(Self.violation(Self.changed(4) { $0.duration = .nanoseconds(took) })?.rule == .timing)
    }
    let configured = Self.success().prefix(2)
    for took in 0...3 {
      #expect(Self.violation(configured + [Self.broken(4, took: Int64(took)), Self.failed(5)]) == nil)
    }
    #expect(Self.violation(configured + [Self.broken(4, took: 4)])?.rule == .timing)
  }

  @Test func `the status of a hop is the status that the server sent, even if stages change the response`() {
    let issued = Self.success().prefix(3)
    var broken = Self.broken(4, took: 2, status: 200)
    #expect(Self.violation(issued + [broken])?.rule == .status)
    broken.receivedStatus = 0
    #expect(Self.violation(issued + [broken, Self.failed(5)]) == nil)
    for status in [0, 103, 1000] {
      broken.status = status
      #expect(Self.violation(issued + [broken])?.rule == .status)
    }
    broken.status = 200
    #expect(Self.violation(Self.success().prefix(2) + [broken])?.rule == .status)
    let other = Self.changed(4) { ($0.status, $0.receivedStatus) = (404, 200) }
    #expect(Self.violation(other)?.rule == .status)
  }

  @Test func `the status of an event is the received status, unless the event says that it was changed`() {
    for index in [0, 1, 2] { #expect(Self.violation(Self.changed(index) { $0.status = 200 })?.rule == .status) }
    for index in 3...8 { #expect(Self.violation(Self.changed(index) { $0.status = 404 })?.rule == .status) }
    #expect(Self.violation(Self.changed(3) { $0.status = 0 })?.rule == .status)
    for index in 4...8 { #expect(Self.violation(Self.changed(index) { $0.receivedStatus = 304 })?.rule == .status) }
    let confirmed = Self.success().map { entry in
      var entry = entry
      if entry.kind == .didReceive || entry.kind == .didEndHop { entry.status = 304 }
      if entry.status == 200 { entry.receivedStatus = 304 }
      return entry
    }
    #expect(Self.violation(confirmed) == nil)
    var missing = confirmed
    missing.remove(at: 3)
    #expect(Self.violation(missing)?.rule == .order)
  }

  @Test func `a validated response must have been received, or come from a stage`() {
    var log = Self.success()
    log.remove(at: 3)
    log[3] = Self.broken(4, took: 2)
    #expect(Self.violation(log)?.message.contains("hop 0 has no did_receive") == true)
    for index in 4..<log.count { log[index].receivedStatus = 0 }
    #expect(Self.violation(log) == nil)
  }

  @Test(arguments: [(302, true), (401, false), (407, false), (308, true)])
  func `a hop can follow a reported redirect or a challenge`(status: Int, isRedirect: Bool) {
    let hop =
      Self.success().prefix(3)
      + [Self.entry(.didReceive, 3, status: status), Self.entry(.didEndHop, 4, status: status)]
    let redirect = Self.entry(.willRedirect, 4, status: status)
    let next = [Self.entry(.didIssue, 5, hop: 1), Self.broken(6, took: 2, hop: 1), Self.failed(6, hop: 1)]
    #expect((Self.violation(hop + next) == nil) == !isRedirect)
    #expect((Self.violation(hop + [redirect] + next) == nil) == isRedirect)
    #expect(Self.violation(hop + [redirect, redirect])?.rule == .order)
    #expect(Self.violation(hop + [Self.failed(6, hop: 1)])?.rule == (isRedirect ? .order : nil))
  }

  @Test(arguments: [200, 300, 304, 403])
  func `no hop can follow any other response`(status: Int) {
    let hop =
      Self.success().prefix(3)
      + [Self.entry(.didReceive, 3, status: status), Self.entry(.didEndHop, 4, status: status)]
    #expect(Self.violation(hop + [Self.entry(.didIssue, 5, hop: 1)])?.rule == .numbering)
    #expect(Self.violation(hop + [Self.entry(.willRedirect, 4, status: status)])?.rule == .order)
  }

  @Test func `either all events of a transaction are numbered, or none`() {
    func counted(_ numbers: [Int?]) -> [LedgerEntry] {
      zip(Self.success(), numbers).map { entry, number in
        var entry = entry
        entry.sequence = number
        return entry
      }
    }
    #expect(Self.violation(counted(Array(0...8))) == nil)
    for numbers in [[1], [0, 2], [0, nil], [nil, 0], [0, 1, 1]] as [[Int?]] {
      let violation = Self.violation(counted(numbers))
      #expect(violation?.rule == .numbering)
      #expect(violation?.line == numbers.count)
    }
  }

  @Test func `the request stays the same during a hop and after a challenge`() {
    func log(_ urls: [String], _ status: Int) -> [LedgerEntry] {
      var log = [Self.entry(.willExecute, 0), Self.entry(.didConfigure, 1), Self.entry(.didIssue, 2)]
      log += [Self.entry(.didReceive, 3, status: status), Self.entry(.didEndHop, 4, status: status)]
      if status == 302 { log.append(Self.entry(.willRedirect, 4, status: status)) }
      log += [Self.entry(.didIssue, 5, hop: 1), Self.broken(6, took: 2, hop: 1), Self.failed(6, hop: 1)]
      for index in log.indices { log[index].url = urls[index] }
      return log
    }
    #expect(Self.violation(log(["a", "b", "b", "b", "b", "b", "c", "c", "c"], 302)) == nil)
    #expect(Self.violation(log(["a", "b", "b", "b", "b", "b", "b", "b"], 401)) == nil)
    for urls in [["a", "b", "c", "b", "b", "b", "b", "b"], ["a", "b", "b", "b", "b", "c", "c", "c"]] {
      #expect(Self.violation(log(urls, 401))?.rule == .identity)
    }
    #expect(Self.violation(Self.changed(5) { $0.method = "PUT" })?.rule == .identity)
  }

  @Test func `the violation for a missing end names the line of the beginning`() throws {
    let violation = try #require(Self.violation(Self.success() + [Self.entry(.willExecute, 0, Self.other)]))
    #expect(violation.rule == .balance)
    #expect(violation.line == 10)
    #expect(violation.transaction == Self.other)
  }

  @Test func `an event before the beginning, after the end, or for the second time is refused`() {
    for index in 1...8 { #expect(Self.violation([Self.success()[index]])?.rule == .balance) }
    for index in 0...8 {
      let violation = Self.violation(Self.success() + [Self.success()[index]])
      #expect(violation?.rule == .balance)
      #expect(violation?.line == 10)
      #expect(violation?.message.contains("after the did_complete of line 9") == true)
    }
    #expect(Self.violation([Self.entry(.willExecute, 0), Self.entry(.willExecute, 1)])?.rule == .balance)
  }

  @Test(arguments: [
    [0, 2], [0, 3], [0, 1, 3], [0, 1, 1], [0, 1, 2, 3, 3], [0, 1, 2, 3, 2], [0, 6], [0, 5, 7], [0, 5, 5],
    [0, 5, 1], [0, 1, 2, 3, 4, 5, 3], [0, 1, 2, 3, 4, 5, 4], [0, 1, 2, 3, 4, 5, 6, 7, 7], [0, 1, 2, 3, 5],
  ])
  func `an event without the earlier event that it needs is refused`(_ order: [Int]) {
    let log = order.enumerated().map { place, index in
      var entry = Self.success()[index]
      entry.time = Instant(nanoseconds: UInt64(place))
      // Without a did_receive, the response is a stage's.
      if index > 4, !order.contains(3) { entry.receivedStatus = 0 }
      return entry
    }
    let violation = Self.violation(log)
    #expect(violation?.line == order.count)
    #expect(violation?.rule == .order || violation?.rule == .numbering)
  }

  @Test func `the outcome is succeeded exactly if the payload was validated`() {
    var cancelled = Self.success()
    cancelled[8] = Self.failed(8, status: 200)
    #expect(Self.violation(cancelled)?.rule == .outcome)
    var skipped = Self.success()
    skipped.remove(at: 7)
    #expect(Self.violation(skipped)?.rule == .outcome)
  }

  @Test func `a did_complete has an outcome, the right duration, and an error if the outcome is not success`() {
    #expect(Self.violation(Self.changed(8) { $0.outcome = nil })?.rule == .outcome)
    #expect(Self.violation(Self.changed(8) { $0.errorCode = "code" })?.rule == .outcome)
    #expect(Self.violation(Self.changed(8) { $0.duration = .nanoseconds(9) })?.rule == .timing)
    #expect(Self.violation(Self.changed(3) { $0.outcome = .failed })?.rule == .outcome)
    for index in [0, 1, 2, 3, 5, 6, 7] {
      #expect(Self.violation(Self.changed(index) { $0.errorCode = "code" })?.rule == .outcome)
    }
    for index in [1, 2, 3, 5, 6, 7] {
      #expect(Self.violation(Self.changed(index) { $0.duration = .nanoseconds(1) })?.rule == .timing)
    }
  }

  @Test func `the outcome is cancelled exactly if the error is cancelled and no stage has set it`() {
    func log(_ outcome: TransactionOutcome, _ code: ErrorCode, _ stage: String?) -> [LedgerEntry] {
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

  @Test func `an attempt that fails on the wire must have had a hop`() {
    var retry = Self.entry(.willRetry, 1, status: 0)
    #expect(Self.violation([Self.entry(.willExecute, 0), retry, Self.failed(2)]) == nil)
    retry.errorCode = "connect"
    #expect(Self.violation([Self.entry(.willExecute, 0), retry])?.rule == .order)
    let configured = [Self.entry(.willExecute, 0), Self.entry(.didConfigure, 0)]
    #expect(Self.violation(configured + [retry])?.rule == .order)
    #expect(Self.violation(configured + [Self.broken(1, took: 0), retry, Self.failed(2)]) == nil)
    var end = Self.failed(1)
    end.timings = TransferTimings()
    #expect(Self.violation([Self.entry(.willExecute, 0), end])?.rule == .timing)
  }

  @Test func `only did_receive, did_end_hop and did_complete can have timings, and a later event must not lose them`() {
    for index in [1, 2, 5, 6, 7] {
      #expect(Self.violation(Self.changed(index) { $0.timings = TransferTimings() })?.rule == .timing)
    }
    var log = Self.success()
    for index in [8, 4, 3] {
      // The loop adds timings from the last event to the first. The events that it has not reached have none.
      log[index].timings = TransferTimings()
      #expect((Self.violation(log)?.rule == .timing) == (index == 8))
    }
    for index in [4, 8] {
      var lost = log
      lost[index].timings = nil
      #expect(Self.violation(lost)?.rule == .timing)
    }
    log[8].timings?.bytesReceived = 1
    #expect(Self.violation(log)?.rule == .timing)
  }

  @Test func `the numbers of attempts and hops have no gap`() {
    for index in 0...8 { #expect(Self.violation(Self.changed(index) { $0.attempt = 1 })?.rule == .numbering) }
    for index in [0, 1, 2, 5, 6, 7, 8] {
      #expect(Self.violation(Self.changed(index) { $0.hop = 1 })?.rule == .numbering)
    }
    // An event of the next hop is refused before the issued hop has ended.
    for index in [3, 4] { #expect(Self.violation(Self.changed(index) { $0.hop = 1 })?.rule == .order) }
    let again = Self.success().prefix(5) + [Self.entry(.willRetry, 5), Self.entry(.didConfigure, 6, attempt: 2)]
    #expect(Self.violation(Array(again))?.rule == .numbering)
    let same = Self.success().prefix(5) + [Self.entry(.willRetry, 5), Self.entry(.didIssue, 6)]
    #expect(Self.violation(Array(same))?.rule == .numbering)
  }

  @Test func `a request that the server did not process is sent in the next hop, after one will_retry`() {
    var (end, retry) = (Self.broken(3, took: 1), Self.entry(.willRetry, 3, status: 0))
    (end.errorCode, retry.errorCode) = ("not_processed", "not_processed")
    let refused = Self.success().prefix(3) + [end, retry]
    let next = [Self.entry(.didIssue, 4, hop: 1), Self.broken(5, took: 1, hop: 1), Self.failed(6, hop: 1)]
    #expect(Self.violation(refused + next) == nil)
    #expect(Self.violation(refused + [Self.failed(6)]) == nil)
    #expect(Self.violation(refused + [retry] + next)?.rule == .numbering)
    #expect(Self.violation(refused + [end.at(4)])?.rule == .numbering)
  }

  @Test func `all events of a transaction have the same request id`() {
    #expect(Self.violation(Self.changed(3) { $0.requestID = "s" })?.rule == .identity)
    #expect(Self.violation(Self.changed(3) { $0.snapshot = 2 })?.rule == .identity)
  }

  @Test func `times never decrease, and a retry waits for its delay`() {
    #expect(Self.violation(Self.changed(5) { $0.time = Instant(nanoseconds: 2) })?.rule == .timing)
    var retry = Self.entry(.willRetry, 5)
    retry.duration = .nanoseconds(10)
    let log = Self.success().prefix(5) + [retry, Self.entry(.didConfigure, 14, attempt: 1)]
    #expect(Self.violation(Array(log))?.message.contains("1 ns before the delay") == true)
  }

  @Test func `phases are not longer than the elapsed time or the time of the hop`() {
    func log(_ timings: TransferTimings, _ indices: Int...) -> [LedgerEntry] {
      var log = Self.success()
      for index in indices { log[index].timings = timings }
      return log
    }
    var timings = TransferTimings()
    timings.wait = .milliseconds(1)
    #expect(Self.violation(log(timings, 3, 4, 8)) == nil)
    timings.connect = .nanoseconds(2)
    #expect(Self.violation(log(timings, 4, 8)) == nil)
    timings.connect = .nanoseconds(3)
    #expect(Self.violation(log(timings, 3))?.rule == .timing)
    #expect(Self.violation(log(timings, 4, 8))?.rule == .timing)
  }

  @Test func `from did_issue on, all events of a hop have the same place in a trace`() {
    let (mine, callers) = (TraceID(high: 7, low: 7), TraceID(high: 8, low: 8))
    func log(_ trace: TraceID?, _ span: UInt64?, _ parent: UInt64?, caller: UInt64? = 5) -> [LedgerEntry] {
      var log = Self.success()
      for index in log.indices {
        log[index].trace.traceID = caller == nil ? nil : callers
        log[index].trace.parentSpanID = caller
        guard index > 1 else { continue }
        (log[index].trace.traceID, log[index].trace.spanID, log[index].trace.parentSpanID) = (trace, span, parent)
      }
      return log
    }
    let honest = [
      log(callers, 6, 5), log(mine, 6, nil), log(callers, nil, 5), log(mine, 6, nil, caller: nil),
      log(nil, nil, nil, caller: nil),
    ]
    for log in honest { #expect(Self.violation(log) == nil) }
    let others = [
      log(mine, 6, 5), log(callers, 6, nil), log(callers, 6, 9), log(mine, nil, nil), log(nil, 6, nil, caller: nil),
      log(mine, nil, nil, caller: nil), log(nil, nil, 5), log(nil, nil, nil),
    ]
    for log in others { #expect(Self.violation(log)?.rule == .identity) }
    for index in 0...8 {
      for key in [\LedgerEntry.trace.spanID, \LedgerEntry.trace.parentSpanID] {
        var changed = log(callers, 6, 5)
        changed[index][keyPath: key] = 10
        #expect(Self.violation(changed)?.rule == .identity, "\(index)")
      }
      var changed = log(callers, 6, 5)
      changed[index].trace.traceID = mine
      #expect(Self.violation(changed)?.rule == .identity, "\(index)")
    }
  }

  @Test func `the ids of ended transactions are forgotten after a while, so memory is limited`() throws {
    var checker = LedgerChecker()
    for number in 0..<70_000 {
      let id = TransactionID(randomHigh: UInt64(number) << 16, randomLow: 7)
      for entry in Self.success(id) { try checker.check(entry) }
    }
    try checker.finish()
    #expect(checker.transactions == 70_000)
    #expect(checker.events == 630_000)
  }
}

extension LedgerEntry {
  fileprivate func at(_ time: UInt64) -> LedgerEntry {
    var entry = self
    entry.time = Instant(nanoseconds: time)
    return entry
  }
}
