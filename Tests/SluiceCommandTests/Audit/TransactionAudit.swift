/// The events of one transaction, in the order of the log, and the rules of `docs/command.md` that concern one alone.
///
/// Each rule is checked by itself, from first to last event. That is slower than one walk that remembers everything, and
/// easier to compare with the table.
struct TransactionAudit {
  let events: [EventLine]

  func check() throws(LogComplaint) {
    try checkBalance()
    try checkMembers()
    try checkSequence()
    try checkOrder()
    try checkPlaces()
    try checkStatus()
    try checkOutcome()
    try checkIdentity()
    try checkTiming()
  }

  private var pairs: Zip2Sequence<[EventLine], ArraySlice<EventLine>> { zip(events, events.dropFirst()) }

  private func demand(
    _ isKept: Bool, _ rule: String, _ event: EventLine, _ what: @autoclosure () -> String
  ) throws(LogComplaint) {
    guard isKept else {
      let place = "\(event.transaction) \(event.event) \(event.attempt).\(event.hop)"
      throw LogComplaint(rule, "\(place): \(what())")
    }
  }

  private func checkBalance() throws(LogComplaint) {
    for (index, event) in events.enumerated() {
      try demand((event.event == "will_execute") == (index == 0), "balance", event, "will_execute is first, and once")
      let isLast = index == events.count - 1
      try demand((event.event == "did_complete") == isLast, "balance", event, "did_complete is last, and once")
    }
  }

  /// Which event has which member.
  private func checkMembers() throws(LogComplaint) {
    for event in events {
      let (isEnd, isRetry) = (event.event == "did_complete", event.event == "will_retry")
      try demand((event.durationNs != nil) == isEnd, "format", event, "durationNs is in did_complete alone")
      try demand((event.outcome != nil) == isEnd, "outcome", event, "an outcome is in did_complete alone")
      try demand((event.delayNs != nil) == isRetry, "format", event, "delayNs is in will_retry alone")
      try demand(event.errorCode == nil || isEnd || isRetry, "outcome", event, "an error")
      let mayHaveTimings = isEnd || event.event == "did_receive"
      try demand(event.phasesNs == nil || mayHaveTimings, "timing", event, "timings")
    }
  }

  private func checkSequence() throws(LogComplaint) {
    guard events.contains(where: { $0.sequence != nil }) else { return }
    for (index, event) in events.enumerated() {
      try demand(event.sequence == Int64(index), "numbering", event, "its sequence is not \(index)")
    }
  }

  /// What may follow what; the numbers of attempt and hop tell apart which attempt or hop is meant.
  private func checkOrder() throws(LogComplaint) {
    let followers: [String: Set<String>] = [
      // A stage of the request may answer, fail, or ask for another attempt.
      "will_execute": ["did_configure", "will_retry", "did_validate_response", "did_complete"],
      "did_configure": ["did_issue", "will_retry", "did_validate_response", "did_complete"],
      "did_issue": [
        "did_receive_informational", "did_receive", "will_retry", "did_validate_response", "did_complete",
      ],
      "did_receive_informational": [
        "did_receive_informational", "did_receive", "will_retry", "did_validate_response", "did_complete",
      ],
      "did_receive": ["will_redirect", "did_issue", "will_retry", "did_validate_response", "did_complete"],
      "will_redirect": ["did_issue", "will_retry", "did_validate_response", "did_complete"],
      "will_retry": ["did_configure", "did_issue", "will_retry", "did_validate_response", "did_complete"],
      "did_validate_response": ["did_extract", "did_complete"],
      "did_extract": ["did_validate_payload", "did_complete"],
      "did_validate_payload": ["did_complete"],
      "did_complete": [],
    ]
    for (before, after) in pairs {
      try demand(followers[before.event]?.contains(after.event) == true, "order", after, "after \(before.event)")
      if after.event == "will_redirect" {
        let isRedirect = [301, 302, 303, 307, 308].contains(before.status)
        try demand(isRedirect, "order", after, "will_redirect after \(before.status ?? 0)")
      }
      if before.event == "did_receive", after.event == "did_issue" {
        try demand([401, 407].contains(before.status), "order", after, "a hop after \(before.status ?? 0)")
      }
      if before.event == "will_retry", after.event == "did_issue" {
        try demand(before.errorCode == "not_processed", "order", after, "a hop after will_retry")
      }
    }
    for (index, event) in events.enumerated() where event.event == "will_retry" && event.errorCode != nil {
      let isConfigured = events[..<index].contains { $0.event == "did_configure" && $0.attempt == event.attempt }
      try demand(isConfigured, "order", event, "a failure before did_configure")
    }
  }

  /// The numbers of attempts and hops.
  private func checkPlaces() throws(LogComplaint) {
    for (index, event) in events.enumerated() where index == 0 {
      try demand(event.attempt == 0 && event.hop == 0, "numbering", event, "it does not begin with 0.0")
    }
    for (before, after) in pairs {
      let same = after.attempt == before.attempt && after.hop == before.hop
      let isNextHop = after.attempt == before.attempt && after.hop == before.hop + 1
      let isNextAttempt = after.attempt == before.attempt + 1 && after.hop == 0
      let isRight =
        switch (before.event, after.event) {
        case ("will_redirect", _): isNextHop
        // The same connection may have refused the hop, and the next one then belongs to the same attempt.
        case ("will_retry", "did_issue"): isNextHop
        case ("will_retry", "did_configure"): isNextAttempt
        // The wait for the next attempt may be cancelled.
        case ("will_retry", "did_complete"):
          isNextAttempt || same || isNextHop && before.errorCode == "not_processed"
        case ("will_retry", _): isNextAttempt || isNextHop && before.errorCode == "not_processed"
        case ("did_receive", "did_issue"): isNextHop
        // The hop that answers a challenge may fail before it is issued.
        case ("did_receive", _) where [401, 407].contains(before.status): same || isNextHop
        default: same
        }
      try demand(isRight, "numbering", after, "after \(before.event) \(before.attempt).\(before.hop)")
    }
  }

  private func received(before index: Int) -> Int64? {
    let event = events[index]
    return events[..<index].last {
      $0.event == "did_receive" && $0.attempt == event.attempt && $0.hop == event.hop
    }?.status
  }

  private func checkStatus() throws(LogComplaint) {
    for (index, event) in events.enumerated() {
      let (status, told) = (event.status, event.receivedStatus)
      switch event.event {
      case "will_execute", "did_configure", "did_issue":
        try demand(status == nil && told == nil, "status", event, "a status before a response")
      case "did_receive_informational":
        try demand((100...199).contains(status ?? 0) && told == nil, "status", event, "\(status ?? 0)")
      case "did_receive":
        try demand((200...999).contains(status ?? 0) && told == nil, "status", event, "\(status ?? 0)")
      case "will_redirect":
        try demand(status == received(before: index) && told == nil, "status", event, "\(status ?? 0)")
      default:
        let received = received(before: index)
        let isReceived = status == received && told == nil
        let isOther = status != nil && status != received && told == received ?? 0
        try demand(isReceived || isOther, "status", event, "\(status ?? 0), received \(received ?? 0)")
      }
    }
    guard let validated = events.firstIndex(where: { $0.event == "did_validate_response" }) else { return }
    try demand(events[validated].status != nil, "status", events[validated], "nothing was validated")
    for event in events[validated...] {
      let isKept = event.status == events[validated].status && event.receivedStatus == events[validated].receivedStatus
      try demand(isKept, "status", event, "not what was validated")
    }
  }

  private func checkOutcome() throws(LogComplaint) {
    guard let end = events.last else { return }
    try demand((end.outcome == "succeeded") == (end.errorCode == nil), "outcome", end, "outcome and error")
    let isCancelled = end.errorCode == "cancelled" && end.errorStage == nil
    try demand((end.outcome == "cancelled") == isCancelled, "outcome", end, "\(end.errorCode ?? "no error")")
    let isValidated = events.contains { $0.event == "did_validate_payload" }
    try demand((end.outcome == "succeeded") == isValidated, "outcome", end, "the payload and the outcome")
  }

  private func checkIdentity() throws(LogComplaint) {
    var current: EventLine?
    var previous: EventLine?
    for event in events {
      try demand(event.requestId == events[0].requestId, "identity", event, event.requestId)
      if event.attempt != previous?.attempt { current = nil }
      if event.event == "did_configure" || previous?.event == "will_redirect" { current = event }
      if let current {
        let isSame = event.method == current.method && event.url == current.url
        try demand(isSame, "identity", event, "\(event.method) \(event.url)")
      }
      previous = event
    }
  }

  private func checkTiming() throws(LogComplaint) {
    for (before, after) in pairs {
      try demand(before.timeNs <= after.timeNs, "timing", after, "time goes back")
      if let delay = before.delayNs, (after.attempt, after.hop) != (before.attempt, before.hop) {
        try demand(after.timeNs - before.timeNs >= delay, "timing", after, "earlier than its delay")
      }
    }
    if let end = events.last, let duration = end.durationNs {
      try demand(duration == end.timeNs - events[0].timeNs, "timing", end, "its duration")
    }
    var hopStart = events[0].timeNs
    var previous = events[0]
    for event in events {
      if (event.attempt, event.hop) != (previous.attempt, previous.hop) || event.event == "did_configure" {
        hopStart = event.event == "did_configure" ? event.timeNs : previous.timeNs
      }
      if let phases = event.phasesNs {
        let elapsed = event.timeNs - (event.event == "did_receive" ? hopStart : events[0].timeNs)
        try demand(phases <= elapsed + 1_000_000, "timing", event, "\(phases) ns of phases in \(elapsed) ns")
      }
      previous = event
    }
    guard let end = events.last else { return }
    let hopHasTimings = events.dropLast().contains {
      $0.phasesNs != nil && $0.attempt == end.attempt && $0.hop == end.hop
    }
    try demand(end.phasesNs != nil || !hopHasTimings, "timing", end, "no timings, although its hop had them")
    let isConfigured = events.contains { $0.event == "did_configure" }
    try demand(end.phasesNs == nil || isConfigured, "timing", end, "timings without a hop")
  }
}
