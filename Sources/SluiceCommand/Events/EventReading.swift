import SluiceJSON
import SluiceMessages
import SluicePipeline

/// Reads the lines that ``EventLine`` writes.
enum EventReading {
  /// Why a line is no event.
  struct Failure: Error {
    let message: String
    /// It ends before the JSON does.
    var isCut = false
  }

  static func entry(_ text: UnsafeRawBufferPointer) throws(Failure) -> LedgerEntry {
    let document: JSONValue
    do { document = try JSONValue(parsing: text, options: [.rejectDuplicates]) } catch {
      throw Failure(message: "not JSON: \(error.message)", isCut: error.code == .truncated)
    }
    guard document.isObject else { throw Failure(message: "expected an object, found \(document.kind.rawValue)") }
    return try entry(document)
  }

  private static func entry(_ document: JSONValue) throws(Failure) -> LedgerEntry {
    let name = try string("event", document)
    guard let kind = TraceEvent.Kind(name: name) else {
      throw Failure(message: "no event is named \(PlainText.quote(name))")
    }
    let id = try string("transaction", document)
    guard let transaction = TransactionID(id) else {
      throw Failure(
        message: "\"transaction\": expected a UUID of version 4 in lower case, found \(PlainText.quote(id))")
    }
    var entry = LedgerEntry(
      kind, transaction, at: Instant(nanoseconds: UInt64(try number("timeNs", document))),
      attempt: try number("attempt", document), hop: try number("hop", document),
      requestID: try string("requestId", document), method: try string("method", document),
      url: try string("url", document))
    if document["sequence"] != nil { entry.sequence = try number("sequence", document) }
    if document["status"] != nil { entry.status = try number("status", document) }
    if document["receivedStatus"] != nil { entry.receivedStatus = try number("receivedStatus", document) }
    if document["outcome"] != nil { entry.outcome = try outcome(document) }
    if let error = document["error"] {
      entry.errorCode = try string("code", error)
      if error["stage"] != nil { entry.errorStage = try string("stage", error) }
    }
    entry.duration = try duration(kind, document)
    entry.timings = try document["timings"].map { timings throws(Failure) in try self.timings(timings) }
    return entry
  }

  private static func outcome(_ document: JSONValue) throws(Failure) -> TransactionOutcome {
    let name = try string("outcome", document)
    guard let outcome = TransactionOutcome(name: name) else {
      throw Failure(message: "\"outcome\": expected succeeded, failed or cancelled, found \(PlainText.quote(name))")
    }
    return outcome
  }

  /// Of the two events that have one; each has a key of its own.
  private static func duration(_ kind: TraceEvent.Kind, _ document: JSONValue) throws(Failure) -> Duration {
    var result = Duration.zero
    for (key, owner) in [("delayNs", TraceEvent.Kind.willRetry), ("durationNs", .didComplete)] {
      if kind == owner {
        result = try duration(key, document)
      } else if document[key] != nil {
        throw Failure(message: "\(kind.name) has \"\(key)\"; expected it in \(owner.name) alone")
      }
    }
    return result
  }

  private static func timings(_ document: JSONValue) throws(Failure) -> TransferTimings {
    var timings = TransferTimings()
    timings.queue = try duration("queueNs", document)
    timings.nameLookup = try duration("dnsNs", document)
    timings.connect = try duration("connectNs", document)
    timings.tlsHandshake = try duration("tlsNs", document)
    timings.send = try duration("sendNs", document)
    timings.wait = try duration("waitNs", document)
    timings.receive = try duration("receiveNs", document)
    if document["bytesSent"] != nil { timings.bytesSent = try number("bytesSent", document) }
    if document["bytesReceived"] != nil { timings.bytesReceived = try number("bytesReceived", document) }
    return timings
  }

  private static func string(_ key: String, _ document: JSONValue) throws(Failure) -> String {
    guard let value = document[key]?.string else { throw Failure(message: "expected \"\(key)\" with a string") }
    return value
  }

  private static func duration(_ key: String, _ document: JSONValue) throws(Failure) -> Duration {
    .nanoseconds(try number(key, document))
  }

  /// Less than a thousand years in nanoseconds, so that no sum overflows.
  private static func number(_ key: String, _ document: JSONValue) throws(Failure) -> Int {
    guard let value = document[key]?.integer, (0...Int64.max / 16).contains(value) else {
      throw Failure(message: "expected \"\(key)\" with an integer from 0 on")
    }
    return Int(value)
  }
}
