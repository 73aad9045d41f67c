import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluiceTraceContext

/// One change to a log, such as a fault of the engine or of the log's writer would cause.
struct LedgerChange {
  let name: String
  let log: [LedgerEntry]
  /// Why the changed log is also valid, or nil if it is invalid.
  let reason: Reason?

  /// Why a change cannot be noticed: a real transaction could have the changed log.
  enum Reason: String, CaseIterable {
    case time = "an event may come at any time between its neighbours, after the delay of a will_retry"
    case hop = "a hop begins at any time between what came before it and its did_issue"
    case delay = "another attempt may wait longer than the delay, or never begin"
    case request = "stages may change the request until did_configure, and a redirect changes it"
    case error = "a failure or a retry may have any code, and a stage may have set it"
    case stageStatus = "a stage may have set any status, if the event says that the status is a stage's"
    case timings = "a transport need not measure timings, and phases may add up to less than the elapsed time"
    case retry = "a stage may ask for another attempt at any time, and the transaction may end before that attempt"
    case informational = "a server may send any informational response"
    case attempt = "a did_complete after a will_retry may have the number of the ended attempt or of the next one"
  }

  /// Returns every single change to a log. Each change removes, repeats, moves or changes one event.
  static func all(to log: [LedgerEntry]) -> [LedgerChange] {
    log.indices.flatMap { index in moves(log, index) + changes(log, index) }
  }

  private static func moves(_ log: [LedgerEntry], _ index: Int) -> [LedgerChange] {
    var (lost, doubled, swapped) = (log, log, log)
    lost.remove(at: index)
    doubled.insert(log[index], at: index)
    let name = "\(index) \(log[index].kind.name)"
    var changes = [
      LedgerChange(name: "\(name) is lost", log: lost, reason: nil),
      LedgerChange(name: "\(name) is written twice", log: doubled, reason: nil),
    ]
    if index + 1 < log.count {
      swapped.swapAt(index, index + 1)
      changes.append(LedgerChange(name: "\(name) comes after the next event", log: swapped, reason: nil))
    }
    return changes
  }

  private static func changes(_ log: [LedgerEntry], _ index: Int) -> [LedgerChange] {
    let old = log[index]
    return variants(of: old).filter { $0.entry != old }.map { member, entry in
      var changed = log
      changed[index] = entry
      return LedgerChange(
        name: "\(index) \(old.kind.name): \(member)", log: changed, reason: reason(log, index, entry))
    }
  }

  private static func variants(of old: LedgerEntry) -> [(member: String, entry: LedgerEntry)] {
    var variants: [(member: String, entry: LedgerEntry)] = []
    func add<Value>(_ key: WritableKeyPath<LedgerEntry, Value>, _ values: Value...) {
      for value in values {
        var entry = old
        entry[keyPath: key] = value
        variants.append(("\(key) is \(value)", entry))
      }
    }
    for kind in TraceEvent.Kind.allCases { add(\.kind, kind) }
    add(\.transaction, TransactionID(randomHigh: 9, randomLow: 9))
    add(\.sequence, nil, 0, (old.sequence ?? 0) + 1, (old.sequence ?? 0) - 1)
    let time = old.time.nanoseconds
    for nanoseconds in [0, time - 1, time + 1, time + 3_600_000_000_000] {
      add(\.time, Instant(nanoseconds: nanoseconds))
    }
    add(\.attempt, old.attempt + 1, old.attempt - 1, 0)
    add(\.hop, old.hop + 1, old.hop - 1, 0)
    add(\.status, 0, 100, 103, 200, 204, 302, 307, 401, 404, 500, 999, 1000, -1)
    add(\.receivedStatus, nil, 0, 200, 302, 401, old.status)
    add(\.outcome, nil, .succeeded, .failed, .cancelled)
    add(\.errorCode, nil, "", "connect", .cancelled)
    add(\.errorStage, nil, "stage", "another")
    let duration = old.duration
    add(\.duration, .zero, duration + .nanoseconds(1), duration - .nanoseconds(1), .seconds(3600))
    var (long, short) = (TransferTimings(), TransferTimings())
    (long.receive, short.receive) = (.seconds(3600), .nanoseconds(1))
    add(\.timings, nil, short, long)
    add(\.requestID, "", "other")
    add(\.method, "", "PATCH")
    add(\.url, "", "http://example.com/other")
    add(\.trace.traceID, nil, TraceID(high: 9, low: 9))
    add(\.trace.spanID, nil, 99)
    add(\.trace.parentSpanID, nil, 99)
    return variants
  }
}

// The changes that leave a valid log.
extension LedgerChange {
  private static func reason(_ log: [LedgerEntry], _ index: Int, _ entry: LedgerEntry) -> Reason? {
    let old = log[index]
    if entry.time != old.time { return isTime(entry, in: log, index) ? .time : nil }
    if entry.duration != old.duration, entry.kind == .didEndHop {
      return areHopTimesKept(log, index, entry) ? .hop : nil
    }
    if entry.duration != old.duration { return isDelay(entry, in: log, index) ? .delay : nil }
    if entry.method != old.method || entry.url != old.url { return isOpenRequest(log, index) ? .request : nil }
    if entry.errorCode != old.errorCode || entry.errorStage != old.errorStage {
      return isError(entry, in: log, index) ? .error : nil
    }
    if entry.kind != old.kind { return isRetry(entry, in: log, index) ? .retry : nil }
    if entry.status != old.status {
      if entry.kind == .didReceiveInformational, 100...199 ~= entry.status { return .informational }
      return isStageStatus(entry) ? .stageStatus : nil
    }
    if entry.timings != old.timings { return isTimings(entry, in: log, index) ? .timings : nil }
    if entry.attempt != old.attempt { return isAttempt(entry, in: log, index) ? .attempt : nil }
    return nil
  }

  private static func isTime(_ entry: LedgerEntry, in log: [LedgerEntry], _ index: Int) -> Bool {
    guard entry.kind != .willExecute, entry.kind != .didComplete else { return false }
    let (before, after) = (log[index - 1], log[index + 1])
    let earliest = before.kind == .willRetry ? before.time + before.duration : before.time
    return earliest <= entry.time && isDelay(entry, before: after) && areHopTimesKept(log, index, entry)
  }

  /// Returns whether the duration of each hop is still possible. A hop begins at its `didIssue` at the latest.
  private static func areHopTimesKept(_ log: [LedgerEntry], _ index: Int, _ entry: LedgerEntry) -> Bool {
    var log = log
    log[index] = entry
    return log.indices.filter { log[$0].kind == .didEndHop }.allSatisfy { place in
      let end = log[place]
      let before = log[..<place]
      let beginning = before.last { end.hop == 0 ? $0.kind == .didConfigure : !isSameHop($0, end) }
      let issue = before.last { $0.kind == .didIssue && isSameHop($0, end) }
      let longest = end.time.duration(since: beginning?.time ?? end.time)
      let shortest = issue.map { end.time.duration(since: $0.time) } ?? .zero
      return shortest <= end.duration && end.duration <= longest
    }
  }

  private static func isSameHop(_ entry: LedgerEntry, _ other: LedgerEntry) -> Bool {
    entry.attempt == other.attempt && entry.hop == other.hop
  }

  private static func has(_ kind: TraceEvent.Kind, ofHopOf entry: LedgerEntry, _ log: ArraySlice<LedgerEntry>) -> Bool {
    log.contains { $0.kind == kind && isSameHop($0, entry) }
  }

  private static func isDelay(_ entry: LedgerEntry, in log: [LedgerEntry], _ index: Int) -> Bool {
    entry.kind == .willRetry && entry.duration >= .zero && isDelay(entry, before: log[index + 1])
  }

  /// Returns whether the next event does not come before the delay of this event has passed.
  private static func isDelay(_ entry: LedgerEntry, before next: LedgerEntry) -> Bool {
    entry.time + (next.attempt > entry.attempt ? entry.duration : .zero) <= next.time
  }

  /// Returns whether no other event must have the same request. Either the event is before `didConfigure`, or it is the
  /// only event after a redirect.
  private static func isOpenRequest(_ log: [LedgerEntry], _ index: Int) -> Bool {
    let entry = log[index]
    let attempt = log.indices.filter { log[$0].attempt == entry.attempt }
    guard let configured = attempt.first(where: { log[$0].kind == .didConfigure }), configured <= index else {
      return true
    }
    func redirects(before place: Int) -> Int {
      attempt.filter { log[$0].kind == .willRedirect && log[$0].hop < log[place].hop }.count
    }
    return !attempt.contains { $0 != index && $0 >= configured && redirects(before: $0) == redirects(before: index) }
  }

  private static func isError(_ entry: LedgerEntry, in log: [LedgerEntry], _ index: Int) -> Bool {
    guard entry.errorCode != nil || entry.errorStage == nil else { return false }
    if entry.kind == .didComplete, entry.outcome == .failed {
      return entry.errorCode != nil && (entry.errorCode != "cancelled" || entry.errorStage != nil)
    }
    if entry.kind == .didEndHop { return isHopError(entry, in: log, index) }
    guard entry.kind == .willRetry else { return false }
    return entry.errorCode == nil || has(.didEndHop, ofHopOf: entry, log[..<index])
  }

  /// Returns whether a hop may end with this error. A hop without a response must have an error. A hop with a response
  /// can have an error if the response was not validated. A hop with a redirect or a challenge can have an error too,
  /// because the engine decides about them before the body arrives.
  private static func isHopError(_ entry: LedgerEntry, in log: [LedgerEntry], _ index: Int) -> Bool {
    guard entry.errorCode != nil else { return has(.didReceive, ofHopOf: entry, log[..<index]) }
    let isDecided = [301, 302, 303, 307, 308, 401, 407].contains(entry.status)
    return isDecided || entry.receivedStatus != nil || !has(.didReceive, ofHopOf: entry, log[..<index])
      || !has(.didValidateResponse, ofHopOf: entry, log[index...])
  }

  /// Returns whether the entry is a possible `willRetry`: the next event begins the next attempt or ends the
  /// transaction.
  private static func isRetry(_ entry: LedgerEntry, in log: [LedgerEntry], _ index: Int) -> Bool {
    guard entry.kind == .willRetry, index > 0, index + 1 < log.count, entry.timings == nil else { return false }
    let (before, next) = (log[..<index], log[index + 1])
    guard ![.didExtract, .didValidatePayload].contains(log[index].kind) else { return false }
    let received = before.last { $0.kind == .didReceive && isSameHop($0, entry) }?.status ?? 0
    let isNext = next.attempt == entry.attempt + 1 || next.kind == .didComplete && next.status == entry.status
    let isEnded = has(.didEndHop, ofHopOf: entry, before)
    let isOver = isEnded || entry.errorCode == nil && !has(.didIssue, ofHopOf: entry, before)
    return isNext && (entry.receivedStatus ?? entry.status) == received && isOver
  }

  private static func isStageStatus(_ entry: LedgerEntry) -> Bool {
    guard let received = entry.receivedStatus, received != entry.status else { return false }
    // The end of a hop has the status that the server sent, even without a `didReceive`.
    if entry.kind == .didEndHop { return 200...999 ~= entry.status }
    return entry.kind == .willRetry || entry.kind == .didComplete && entry.outcome != .succeeded
  }

  private static func isTimings(_ entry: LedgerEntry, in log: [LedgerEntry], _ index: Int) -> Bool {
    if let receive = entry.timings?.receive, receive > .seconds(1) { return false }
    let end = log.last { $0.kind == .didEndHop }
    switch entry.kind {
    case .didReceive:
      let end = log.first { $0.kind == .didEndHop && isSameHop($0, entry) }
      return entry.timings == nil || end?.timings != nil
    case .didEndHop where log[(index + 1)...].contains { $0.kind == .didEndHop }:
      let receipt = log.first { $0.kind == .didReceive && isSameHop($0, entry) }
      return entry.timings != nil || receipt?.timings == nil
    case .didComplete where entry.timings != nil: return entry.timings == end?.timings
    // The timings of the last hop's end must be those of the transaction's end.
    case .didComplete: return !(end.map { isSameHop($0, entry) && $0.timings != nil } ?? false)
    default: return false
    }
  }

  private static func isAttempt(_ entry: LedgerEntry, in log: [LedgerEntry], _ index: Int) -> Bool {
    guard entry.kind == .didComplete, index > 0, log[index - 1].kind == .willRetry else { return false }
    let retry = log[index - 1]
    if entry.attempt == retry.attempt { return entry.hop == retry.hop && entry.status == retry.status }
    return entry.attempt == retry.attempt + 1 && entry.hop == 0 && entry.status == 0
      && entry.time >= retry.time + retry.duration
  }
}
