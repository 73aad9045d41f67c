import SluiceMessages
import SluicePipeline

/// What the events so far say about a transaction that has not ended.
struct OpenTransaction: Sendable {
  static let validation: [TraceEvent.Kind] = [.didValidateResponse, .didExtract, .didValidatePayload]

  /// The line of its `willExecute`.
  let line: Int
  let started: Instant
  let requestID: String
  let snapshot: Int?
  private(set) var last: (kind: TraceEvent.Kind, time: Instant)
  /// The last event; it can be a `didEndSpan`, which is not a step of the transaction.
  private(set) var latest: (kind: TraceEvent.Kind, time: Instant)
  /// The ids of the spans that have ended.
  private var spans: Set<UInt64> = []
  /// The sequence number of the next event; nil if the log has none.
  private(set) var sequence: Int?
  private(set) var attempt = 0
  private(set) var hop: OpenHop
  /// The request that the next event must name. Nil before the `didConfigure` of the attempt, and whenever the next
  /// event can name another request.
  private(set) var request: (method: String, url: String)?
  private(set) var isConfigured = false
  /// The timings of the last `didEndHop`; nil before the first `didEndHop`, and if the last one has no timings.
  private(set) var lastTimings: TransferTimings?
  /// The place in a trace that the caller gave the transaction.
  let callerTrace: HopTraceContext
  /// The number of ``validation`` events so far, and their common status.
  private(set) var validated: (count: Int, status: Int) = (0, 0)
  /// The time at which the next attempt may begin, and the status of the attempt before it. Nil if no `willRetry` has
  /// come.
  private(set) var pendingRetry: (at: Instant, status: Int)?

  init(_ entry: LedgerEntry, _ line: Int) throws(LedgerBreach) {
    self.line = line
    started = entry.time
    requestID = entry.requestID
    snapshot = entry.snapshot
    callerTrace = entry.trace
    last = (entry.kind, entry.time)
    latest = last
    hop = OpenHop(0, at: entry.time)
    guard entry.attempt == 0, entry.hop == 0 else {
      throw LedgerBreach(
        .numbering, "will_execute has attempt \(entry.attempt) and hop \(entry.hop); expected attempt 0 and hop 0")
    }
    try checkMembers(of: entry)
    try checkStatus(of: entry)
    try checkTrace(of: entry)
    sequence = entry.sequence.map { _ in 0 }
    try takeSequence(entry)
  }

  mutating func take(_ entry: LedgerEntry) throws(LedgerBreach) {
    if entry.kind == .willExecute {
      throw LedgerBreach(.balance, "a second will_execute; the first is in line \(line)")
    }
    try checkTime(of: entry)
    try checkMembers(of: entry)
    latest = (entry.kind, entry.time)
    if let span = entry.span { return try take(span, of: entry) }
    try takeAttempt(entry)
    try takeHop(entry)
    try takeStep(entry)
    try checkStatus(of: entry)
    try checkTrace(of: entry)
    try takeRequest(entry)
    try takeSequence(entry)
    last = (entry.kind, entry.time)
  }

  /// Checks the end of a span. A span can end at any time. It belongs to the current attempt and hop, or to the attempt
  /// or hop that is about to begin.
  private mutating func take(_ span: LedgerSpan, of entry: LedgerEntry) throws(LedgerBreach) {
    let isNextAttempt = pendingRetry != nil && entry.attempt == attempt + 1 && entry.hop == 0
    let isNextHop = entry.attempt == attempt && entry.hop == hop.number + 1 && hop.leadsOn
    guard entry.attempt == attempt && entry.hop == hop.number || isNextAttempt || isNextHop else {
      throw LedgerBreach(
        .numbering,
        "did_end_span has attempt \(entry.attempt) and hop \(entry.hop); expected attempt \(attempt) and hop \(hop.number)"
      )
    }
    guard started <= span.start, span.start <= span.end, span.end <= entry.time else {
      throw LedgerBreach(
        .timing,
        "did_end_span has a span that does not lie between will_execute and did_end_span, or ends before it begins")
    }
    guard spans.insert(span.id).inserted, span.id != span.parentID else {
      throw LedgerBreach(.identity, "did_end_span has a span that has ended before, or that is its own parent")
    }
    guard entry.status == 0, entry.receivedStatus == nil else {
      throw LedgerBreach(.status, "did_end_span has a status; expected none")
    }
    try takeSequence(entry)
  }

  /// Checks the number of the attempt. After a `willRetry`, the next attempt follows, or the end of the transaction if
  /// the next attempt never began.
  private mutating func takeAttempt(_ entry: LedgerEntry) throws(LedgerBreach) {
    // The server did not process the request: it is sent again in the next hop of the same attempt.
    if let retry = pendingRetry, hop.isRefused, entry.attempt == attempt, entry.hop == hop.number + 1 {
      try require(entry, notBefore: retry.at)
      pendingRetry = nil
    }
    if let pendingRetry, entry.kind != .didComplete || entry.attempt == attempt + 1 {
      guard entry.attempt == attempt + 1 else {
        throw LedgerBreach(
          .numbering, "\(entry.kind.name) has attempt \(entry.attempt); expected \(attempt + 1) after will_retry")
      }
      try require(entry, notBefore: pendingRetry.at)
      attempt += 1
      hop = OpenHop(0, at: entry.time)
      request = nil
      isConfigured = false
      self.pendingRetry = nil
    }
    guard entry.attempt == attempt else {
      throw LedgerBreach(
        .numbering,
        "\(entry.kind.name) has attempt \(entry.attempt); expected \(attempt), since no will_retry came before")
    }
  }

  private func require(_ entry: LedgerEntry, notBefore time: Instant) throws(LedgerBreach) {
    guard entry.time < time else { return }
    let early = LedgerBreach.text(time.duration(since: entry.time))
    throw LedgerBreach(.timing, "\(entry.kind.name) comes \(early) before the delay of will_retry has passed")
  }

  /// The next hop begins with its `didIssue`, or with a later event if it was never issued.
  private mutating func takeHop(_ entry: LedgerEntry) throws(LedgerBreach) {
    guard entry.hop != hop.number else { return }
    let isNext = entry.hop == hop.number + 1 && validated.count == 0 && pendingRetry == nil
    if isNext { try requireEndOfHop(entry) }
    if isNext, hop.mayRedirect {
      try require(hop.isRedirected, entry, "will_redirect of hop \(hop.number) before it")
    }
    guard isNext, hop.leadsOn else {
      throw LedgerBreach(.numbering, "\(entry.kind.name) has hop \(entry.hop); expected \(expectedHop)")
    }
    // Only a redirect changes the request; an answered challenge and a resend keep it.
    if hop.isRedirected { request = nil }
    hop = OpenHop(hop.number + 1, at: last.time)
  }

  private var expectedHop: String {
    validated.count == 0 && pendingRetry == nil && hop.leadsOn ? "\(hop.number) or \(hop.number + 1)" : "\(hop.number)"
  }

  private mutating func takeStep(_ entry: LedgerEntry) throws(LedgerBreach) {
    switch entry.kind {
    case .willExecute: break
    case .didConfigure: try configure(entry)
    case .didIssue: try issue(entry)
    case .didReceiveInformational: try requireOpenHop(entry)
    case .didReceive: try receive(entry)
    case .willRedirect: try redirect(entry)
    case .willRetry: try retry(entry)
    case .didEndHop: try endHop(entry)
    case .didValidateResponse, .didExtract, .didValidatePayload: try validate(entry)
    case .didComplete: try complete(entry)
    case .didEndSpan: break
    }
  }

  private mutating func configure(_ entry: LedgerEntry) throws(LedgerBreach) {
    try requireBeforeValidation(entry)
    try require(!isConfigured, entry, "one did_configure in attempt \(attempt)")
    isConfigured = true
    hop.started = entry.time
  }

  private mutating func issue(_ entry: LedgerEntry) throws(LedgerBreach) {
    try requireBeforeValidation(entry)
    try require(isConfigured, entry, "did_configure in attempt \(attempt) before it")
    try require(!hop.isIssued, entry, "one did_issue of hop \(hop.number)")
    hop.issued = entry.time
    hop.trace = entry.trace
  }

  private mutating func receive(_ entry: LedgerEntry) throws(LedgerBreach) {
    try requireOpenHop(entry)
    guard (200...999).contains(entry.status) else {
      throw LedgerBreach(.status, "did_receive has the status \(entry.status); expected 200 to 999")
    }
    try checkPhases(of: entry, in: entry.time.duration(since: hop.started), "the time since the hop began")
    hop.status = entry.status
    hop.hasTimings = entry.timings != nil
  }

  private mutating func endHop(_ entry: LedgerEntry) throws(LedgerBreach) {
    try requireBeforeValidation(entry)
    try require(isConfigured, entry, "did_configure in attempt \(attempt) before it")
    try require(!hop.isEnded, entry, "one did_end_hop of hop \(hop.number)")
    try require(
      hop.isAnswered || entry.errorCode != nil, entry,
      "did_receive of hop \(hop.number) before it, since it has no error")
    try checkLength(of: entry)
    hop.isEnded = true
    hop.hasFailed = entry.errorCode != nil
    hop.hasTimings = entry.timings != nil
    lastTimings = entry.timings
  }

  private mutating func redirect(_ entry: LedgerEntry) throws(LedgerBreach) {
    try requireBeforeValidation(entry)
    try require(hop.mayRedirect, entry, "a did_receive of its hop with 301, 302, 303, 307 or 308 before it")
    try require(!hop.isRedirected, entry, "one will_redirect of hop \(hop.number)")
    hop.isRedirected = true
  }

  private mutating func retry(_ entry: LedgerEntry) throws(LedgerBreach) {
    try requireBeforeValidation(entry)
    try requireEndOfHop(entry)
    // If the event has an error, it is the error of a hop, which must have ended. A retry that a stage asked for need
    // not have an error.
    if entry.errorCode != nil {
      try require(hop.isEnded, entry, "did_end_hop of hop \(hop.number) before it, since it has an error")
    }
    pendingRetry = (entry.time + entry.duration, entry.status)
    // A hop that asked for a challenge, and got none, is followed by the whole request.
    hop.isRefused = entry.errorCode == .notProcessed && hop.isIssued && (!hop.isAnswered || hop.status < 300)
  }

  private mutating func validate(_ entry: LedgerEntry) throws(LedgerBreach) {
    let count = validated.count
    try requireEndOfHop(entry)
    try require(
      !hop.isAnswered || !hop.hasFailed || hop.isDecidedByHead, entry,
      "nothing but another attempt or the end after a response that broke off")
    guard count < Self.validation.count, entry.kind == Self.validation[count] else {
      let place = Self.validation.firstIndex(of: entry.kind) ?? 0
      let wanted = place > count ? "\(Self.validation[count].name) before it" : "it once"
      throw LedgerBreach(.order, "\(entry.kind.name) out of order; expected \(wanted)")
    }
    guard entry.status != 0 else {
      throw LedgerBreach(.status, "\(entry.kind.name) has no status; expected that of the response")
    }
    if count == 0 { validated.status = entry.status }
    validated.count += 1
  }

  /// The request changes only with a redirect or a new attempt.
  private mutating func takeRequest(_ entry: LedgerEntry) throws(LedgerBreach) {
    if let request {
      guard entry.method == request.method, entry.url == request.url else {
        let member = entry.method == request.method ? "URL" : "method"
        throw LedgerBreach(
          .identity, "\(entry.kind.name) has another \(member) than the earlier events of hop \(hop.number)")
      }
    } else if isConfigured {
      request = (entry.method, entry.url)
    }
  }

  private mutating func takeSequence(_ entry: LedgerEntry) throws(LedgerBreach) {
    guard entry.sequence == sequence else {
      let found = entry.sequence.map { "the sequence \($0)" } ?? "no sequence"
      let expected = sequence.map { "\($0)" } ?? "none, as in will_execute"
      let isMissing = (entry.sequence ?? 0) > (sequence ?? .max)
      throw LedgerBreach(
        .numbering,
        "\(entry.kind.name) has \(found); expected \(expected)" + (isMissing ? ": an event before it is missing" : ""))
    }
    sequence = sequence.map { $0 + 1 }
  }
}
