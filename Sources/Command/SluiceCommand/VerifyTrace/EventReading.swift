import SluiceJSON
import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluiceTraceContext

/// Reads the lines that ``EventLine`` writes.
enum EventReading {
  /// Why a line is not an event.
  struct Failure: Error {
    let message: String
    /// The line ends in the middle of the JSON text.
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
    if document["snapshot"] != nil { entry.snapshot = try number("snapshot", document) }
    if document["status"] != nil { entry.status = try number("status", document, 100...999) }
    if document["receivedStatus"] != nil { entry.receivedStatus = try number("receivedStatus", document, 0...999) }
    if document["outcome"] != nil { entry.outcome = try outcome(document) }
    if let error = document["error"] {
      entry.errorCode = ErrorCode(rawValue: try string("code", error))
      _ = try string("message", error)
      if error["stage"] != nil { entry.errorStage = try string("stage", error) }
      try refuseOthers(than: ["code", "message", "stage"], in: error)
    }
    try readTrace(document, into: &entry.trace)
    entry.duration = try duration(kind, document)
    entry.timings = try document["timings"].map { timings throws(Failure) in try self.timings(timings) }
    try checkAttributes(kind, document)
    entry.span = try document["span"].map { span throws(Failure) in try self.span(span) }
    try refuseOthers(than: members, in: document)
    return entry
  }

  private static func span(_ document: JSONValue) throws(Failure) -> LedgerSpan {
    let trace = try halves("traceId", 2, document)
    var span = LedgerSpan(
      traceID: TraceID(high: trace[0], low: trace[1]), id: try halves("spanId", 1, document)[0],
      start: Instant(nanoseconds: UInt64(try number("startNs", document))),
      end: Instant(nanoseconds: UInt64(try number("endNs", document))))
    if document["parentSpanId"] != nil { span.parentID = try halves("parentSpanId", 1, document)[0] }
    for (key, words) in [("kind", ["internal", "client"]), ("status", ["unset", "ok", "error"])] {
      let word = try string(key, document)
      guard words.contains(word) else {
        throw Failure(
          message: "\"\(key)\": expected \(words.joined(separator: ", ")), found \(PlainText.quote(word))")
      }
    }
    for key in ["name", "stage"] { _ = try string(key, document) }
    if document["message"] != nil { _ = try string("message", document) }
    guard document["isUnfinished"]?.bool != nil else {
      throw Failure(message: "expected \"isUnfinished\" with true or false")
    }
    if document["droppedAttributes"] != nil { _ = try number("droppedAttributes", document) }
    if let attributes = document["attributes"] {
      guard attributes.isObject, attributes.members.allSatisfy({ ![.object, .array, .null].contains($0.value.kind) })
      else {
        throw Failure(message: "expected \"attributes\" with an object of strings, numbers, true and false")
      }
    }
    try refuseOthers(than: spanMembers, in: document)
    return span
  }

  private static let spanMembers: Set = [
    "name", "kind", "stage", "traceId", "spanId", "parentSpanId", "startNs", "endNs", "status", "message",
    "isUnfinished", "attributes", "droppedAttributes",
  ]

  private static let members: Set = [
    "event", "transaction", "sequence", "timeNs", "attempt", "hop", "snapshot", "requestId", "method", "url", "status",
    "receivedStatus", "outcome", "error", "delayNs", "durationNs", "timings", "traceId", "spanId", "parentSpanId",
    "attributes",
    "span",
  ]

  private static func checkAttributes(_ kind: TraceEvent.Kind, _ document: JSONValue) throws(Failure) {
    guard let attributes = document["attributes"] else { return }
    guard kind == .didComplete else {
      throw Failure(
        message: "\(kind.name) has \"attributes\"; expected them only in \(TraceEvent.Kind.didComplete.name)")
    }
    guard attributes.isObject, (1...AttributeList.maximumCount).contains(attributes.count) else {
      throw Failure(message: "\"attributes\": expected an object with 1 to \(AttributeList.maximumCount) members")
    }
    for (name, value) in attributes.members {
      let isScalar = value.string != nil || value.integer != nil || value.real != nil || value.bool != nil
      guard isScalar, Attribute.isName(name.utf8.span) else {
        throw Failure(message: "\"attributes\": \(PlainText.quote(name)) is not an attribute")
      }
    }
  }

  /// Refuses members that the schema does not define. Otherwise a misspelled member would stay unnoticed, because no
  /// rule checks it.
  private static func refuseOthers(than known: Set<String>, in document: JSONValue) throws(Failure) {
    for (key, _) in document.members where !known.contains(key) {
      throw Failure(message: "no event has \(PlainText.quote(key))")
    }
  }

  private static func outcome(_ document: JSONValue) throws(Failure) -> TransactionOutcome {
    let name = try string("outcome", document)
    guard let outcome = TransactionOutcome(name: name) else {
      throw Failure(message: "\"outcome\": expected succeeded, failed or cancelled, found \(PlainText.quote(name))")
    }
    return outcome
  }

  private static func readTrace(_ document: JSONValue, into trace: inout HopTraceContext) throws(Failure) {
    if document["traceId"] != nil {
      let halves = try halves("traceId", 2, document)
      trace.traceID = TraceID(high: halves[0], low: halves[1])
    }
    if document["spanId"] != nil { trace.spanID = try halves("spanId", 1, document)[0] }
    if document["parentSpanId"] != nil { trace.parentSpanID = try halves("parentSpanId", 1, document)[0] }
  }

  /// Reads an id of 16 hexadecimal digits as one number, or of 32 digits as two numbers.
  private static func halves(_ key: String, _ count: Int, _ document: JSONValue) throws(Failure) -> [UInt64] {
    let digits = Array(try string(key, document).utf8)
    let isHexadecimal = digits.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
    guard digits.count == 16 * count, isHexadecimal, digits.contains(where: { $0 != 0x30 }) else {
      throw Failure(message: "\"\(key)\": expected \(16 * count) hexadecimal digits in lower case, not all of them 0")
    }
    return (0..<count).map { half in
      digits[(16 * half)..<(16 * (half + 1))].reduce(0) { $0 << 4 | UInt64($1 < 0x3A ? $1 - 0x30 : $1 - 0x57) }
    }
  }

  /// The duration of an event: `delayNs` for a delay, `durationNs` for the time that something took.
  private static func duration(_ kind: TraceEvent.Kind, _ document: JSONValue) throws(Failure) -> Duration {
    var result = Duration.zero
    for (key, owners) in [("delayNs", [TraceEvent.Kind.willRetry]), ("durationNs", [.didEndHop, .didComplete])] {
      if owners.contains(kind) {
        result = try duration(key, document)
      } else if document[key] != nil {
        let names = owners.map(\.name).joined(separator: " and ")
        throw Failure(message: "\(kind.name) has \"\(key)\"; expected it only in \(names)")
      }
    }
    return result
  }

  private static func timings(_ document: JSONValue) throws(Failure) -> TransferTimings {
    var timings = TransferTimings()
    timings.queue = try duration("queueNs", document)
    timings.nameLookup = try duration("dnsNs", document)
    timings.connect = try duration("connectNs", document)
    if document["tunnelNs"] != nil { timings.tunnel = try duration("tunnelNs", document) }
    timings.tlsHandshake = try duration("tlsNs", document)
    timings.send = try duration("sendNs", document)
    timings.wait = try duration("waitNs", document)
    timings.receive = try duration("receiveNs", document)
    if document["bytesSent"] != nil { timings.bytesSent = try number("bytesSent", document) }
    if document["bytesReceived"] != nil { timings.bytesReceived = try number("bytesReceived", document) }
    if let isReused = document["isConnectionReused"] {
      guard let isReused = isReused.bool else {
        throw Failure(message: "expected \"isConnectionReused\" with true or false")
      }
      timings.isConnectionReused = isReused
    }
    try refuseOthers(than: timingMembers, in: document)
    return timings
  }

  private static let timingMembers: Set = [
    "queueNs", "dnsNs", "connectNs", "tunnelNs", "tlsNs", "sendNs", "waitNs", "receiveNs", "bytesSent", "bytesReceived",
    "isConnectionReused",
    // Written by versions that had two transports.
    "engine",
  ]

  private static func string(_ key: String, _ document: JSONValue) throws(Failure) -> String {
    guard let value = document[key]?.string else { throw Failure(message: "expected \"\(key)\" with a string") }
    return value
  }

  private static func duration(_ key: String, _ document: JSONValue) throws(Failure) -> Duration {
    .nanoseconds(try number(key, document))
  }

  /// The limit is less than a thousand years in nanoseconds, so that no sum overflows.
  private static let numbers = 0...Int(Int64.max / 16)

  private static func number(
    _ key: String, _ document: JSONValue, _ range: ClosedRange<Int> = numbers
  ) throws(Failure) -> Int {
    guard let value = document[key]?.integer, range.contains(Int(value)) else {
      let bounds = range == numbers ? "from \(range.lowerBound) on" : "from \(range.lowerBound) to \(range.upperBound)"
      throw Failure(message: "expected \"\(key)\" with an integer \(bounds)")
    }
    return Int(value)
  }
}
