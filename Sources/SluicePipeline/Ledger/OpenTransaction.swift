import SluiceMessages

/// How far a transaction has come in its log.
struct OpenTransaction: Sendable {
  struct Broken: Error {
    let rule: LedgerViolation.Rule
    let message: String
  }

  /// Libcurl rounds each phase, and reads the clock itself.
  private static let tolerance = Duration.milliseconds(1)
  private static let validation: [TraceEvent.Kind] = [.didValidateResponse, .didExtract, .didValidatePayload]

  let line: Int
  private let started: Instant
  private let requestID: String
  private var last: (kind: TraceEvent.Kind, time: Instant)
  private var attempt = 0
  /// The hop that was issued last; -1 before the first.
  private var hop = -1
  private var isConfigured = false
  private var isAnswered = false
  /// How many of the three have come.
  private var validated = 0
  /// When the attempt after this one may begin.
  private var retryAt: Instant?
  private var hopStarted: Instant

  init(_ entry: LedgerEntry, _ line: Int) {
    self.line = line
    started = entry.time
    hopStarted = entry.time
    requestID = entry.requestID
    last = (entry.kind, entry.time)
  }

  mutating func take(_ entry: LedgerEntry) throws(Broken) {
    if entry.kind == .willExecute {
      throw Broken(rule: .balance, message: "a second will_execute; the first is in line \(line)")
    }
    try checkTime(entry)
    guard entry.requestID == requestID else {
      throw Broken(
        rule: .identity,
        message: "\(entry.kind.name) has the request id \"\(entry.requestID)\"; expected \"\(requestID)\"")
    }
    guard (entry.outcome != nil) == (entry.kind == .didComplete) else {
      throw Broken(
        rule: .outcome,
        message: entry.kind == .didComplete
          ? "did_complete has no outcome" : "\(entry.kind.name) has an outcome; expected one in did_complete alone")
    }
    try takeAttempt(entry)
    try checkHop(entry)
    try takeStep(entry)
    last = (entry.kind, entry.time)
  }

  private func checkTime(_ entry: LedgerEntry) throws(Broken) {
    guard entry.time >= last.time else {
      let back = Self.text(last.time.duration(since: entry.time))
      throw Broken(rule: .timing, message: "\(entry.kind.name) is \(back) earlier than the \(last.kind.name) before it")
    }
  }

  /// A retry is followed by the next attempt, or by the end where it never began.
  private mutating func takeAttempt(_ entry: LedgerEntry) throws(Broken) {
    if let retryAt, entry.kind != .didComplete || entry.attempt == attempt + 1 {
      guard entry.attempt == attempt + 1 else {
        throw Broken(
          rule: .numbering,
          message: "\(entry.kind.name) has attempt \(entry.attempt); expected \(attempt + 1) after will_retry")
      }
      guard entry.time >= retryAt else {
        let early = Self.text(retryAt.duration(since: entry.time))
        throw Broken(
          rule: .timing, message: "\(entry.kind.name) comes \(early) before the delay of will_retry has passed")
      }
      attempt += 1
      hop = -1
      isConfigured = false
      isAnswered = false
      hopStarted = entry.time
      self.retryAt = nil
    }
    guard entry.attempt == attempt else {
      throw Broken(
        rule: .numbering,
        message: "\(entry.kind.name) has attempt \(entry.attempt); expected \(attempt), since no will_retry came before"
      )
    }
  }

  private func checkHop(_ entry: LedgerEntry) throws(Broken) {
    let expected: ClosedRange<Int>
    switch entry.kind {
    case .didIssue: expected = hop + 1...hop + 1
    // A hop that did not come to be issued may have begun; where it failed, a stage may have answered in its place.
    case .didComplete, .willRetry, .didValidateResponse, .didExtract, .didValidatePayload:
      expected = max(hop, 0)...max(isAnswered ? hop + 1 : hop, 0)
    default: expected = max(hop, 0)...max(hop, 0)
    }
    guard expected.contains(entry.hop) else {
      let wanted =
        expected.count == 1 ? "\(expected.lowerBound)" : "\(expected.lowerBound) or \(expected.upperBound)"
      throw Broken(rule: .numbering, message: "\(entry.kind.name) has hop \(entry.hop); expected \(wanted)")
    }
  }

  private mutating func takeStep(_ entry: LedgerEntry) throws(Broken) {
    switch entry.kind {
    case .willExecute: break
    case .didConfigure: try configure(entry)
    case .didIssue: try issue(entry)
    case .didReceiveInformational, .didReceive: try receive(entry)
    case .willRedirect: try require(isAnswered, entry, "the did_receive of its hop before it")
    case .willRetry:
      try requireBeforeValidation(entry)
      retryAt = entry.time + entry.duration
    case .didValidateResponse, .didExtract, .didValidatePayload: try validate(entry)
    case .didComplete: try complete(entry)
    }
  }

  private mutating func configure(_ entry: LedgerEntry) throws(Broken) {
    try requireBeforeValidation(entry)
    try require(!isConfigured, entry, "one did_configure in attempt \(attempt)")
    isConfigured = true
    hopStarted = entry.time
  }

  private mutating func issue(_ entry: LedgerEntry) throws(Broken) {
    try requireBeforeValidation(entry)
    try require(isConfigured, entry, "did_configure in attempt \(attempt) before it")
    try require(hop < 0 || isAnswered, entry, "the did_receive of hop \(hop) before it")
    hop = entry.hop
    isAnswered = false
  }

  private mutating func receive(_ entry: LedgerEntry) throws(Broken) {
    try requireBeforeValidation(entry)
    try require(hop >= 0, entry, "did_issue in attempt \(attempt) before it")
    try require(!isAnswered, entry, "one did_receive of hop \(hop), and nothing received after it")
    let isInformational = entry.kind == .didReceiveInformational
    guard (isInformational ? 100...199 : 200...999).contains(entry.status) else {
      throw Broken(
        rule: .outcome,
        message: "\(entry.kind.name) has the status \(entry.status); expected \(isInformational ? "1xx" : "200 to 999")"
      )
    }
    guard !isInformational else { return }
    try checkPhases(entry, since: hopStarted, "the hop began")
    isAnswered = true
    hopStarted = entry.time
  }

  private mutating func validate(_ entry: LedgerEntry) throws(Broken) {
    guard validated < Self.validation.count, entry.kind == Self.validation[validated] else {
      let place = Self.validation.firstIndex(of: entry.kind) ?? 0
      let wanted = place > validated ? "\(Self.validation[validated].name) before it" : "it once"
      throw Broken(rule: .order, message: "\(entry.kind.name) out of order; expected \(wanted)")
    }
    validated += 1
  }

  private func complete(_ entry: LedgerEntry) throws(Broken) {
    let hasSucceeded = entry.outcome == .succeeded
    guard hasSucceeded == (validated == Self.validation.count) else {
      throw Broken(
        rule: .outcome,
        message: hasSucceeded
          ? "did_complete says succeeded; expected \(Self.validation[validated].name) before it"
          : "did_complete says failed or cancelled; expected succeeded after did_validate_payload")
    }
    guard hasSucceeded == (entry.errorCode == nil) else {
      throw Broken(
        rule: .outcome,
        message: hasSucceeded ? "did_complete says succeeded and has an error" : "did_complete has no error")
    }
    guard entry.duration == entry.time.duration(since: started) else {
      throw Broken(
        rule: .timing,
        message: "did_complete says it took \(Self.text(entry.duration)); expected "
          + "\(Self.text(entry.time.duration(since: started))), the time since will_execute")
    }
    try checkPhases(entry, since: started, "will_execute")
  }

  private func checkPhases(_ entry: LedgerEntry, since start: Instant, _ name: String) throws(Broken) {
    guard let phases = entry.timings?.total else { return }
    let span = entry.time.duration(since: start)
    guard phases <= span + Self.tolerance else {
      throw Broken(
        rule: .timing,
        message: "the phases of \(entry.kind.name) add up to \(Self.text(phases)); expected no more than "
          + "\(Self.text(span)), the time since \(name)")
    }
  }

  private func requireBeforeValidation(_ entry: LedgerEntry) throws(Broken) {
    try require(validated == 0, entry, "nothing but the end after did_validate_response")
  }

  private func require(_ holds: Bool, _ entry: LedgerEntry, _ expected: String) throws(Broken) {
    guard !holds else { return }
    throw Broken(rule: .order, message: "\(entry.kind.name) out of order; expected \(expected)")
  }

  private static func text(_ duration: Duration) -> String { "\(duration.nanoseconds) ns" }
}
