/// An independent check of an event log. It was written only from the rules in `docs/command/verify-trace.md`, and is as
/// simple as possible.
///
/// Transactions are checked one by one when their `did_complete` is read.
struct EventLogAudit {
  /// The first 20 broken rules, each with its line number. More would not help.
  private(set) var complaints: [String] = []
  private(set) var lineCount = 0
  /// The number of events by name.
  private(set) var counts: [String: Int] = [:]
  private(set) var transactionCount = 0
  /// The first and the last event of each transaction, by request id.
  private(set) var ends: [String: (first: EventLine, last: EventLine)] = [:]
  private var open: [String: [EventLine]] = [:]
  private var ended: Set<String> = []

  init() {}

  /// Reads a whole log.
  init(lines: [String]) {
    for line in lines { read(Array(line.utf8)) }
    finish()
  }

  mutating func read(_ line: [UInt8]) {
    lineCount += 1
    do throws(LogComplaint) { try check(EventLine(line)) } catch { complain(error) }
  }

  mutating func finish() {
    for events in open.values {
      complain(LogComplaint("balance", "\(events[0].transaction) has no did_complete"))
    }
  }

  private mutating func check(_ event: EventLine) throws(LogComplaint) {
    counts[event.event, default: 0] += 1
    guard !ended.contains(event.transaction) else {
      throw LogComplaint("balance", "\(event.transaction): \(event.event) after its end")
    }
    open[event.transaction, default: []].append(event)
    guard event.event == "did_complete", let events = open.removeValue(forKey: event.transaction) else { return }
    ended.insert(event.transaction)
    transactionCount += 1
    ends[event.requestID] = (events[0], event)
    try TransactionAudit(events: events).check()
  }

  private mutating func complain(_ complaint: LogComplaint) {
    if complaints.count < 20 { complaints.append("line \(lineCount): \(complaint)") }
  }
}
