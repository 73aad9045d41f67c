import SluiceJSON

/// A line of an event log, read as `docs/schema/event.schema.json` describes it.
///
/// It shares no code with the command's reader and writer of logs, so that it does not share their mistakes.
struct EventLine {
  static let names = [
    "will_execute", "did_configure", "did_issue", "did_receive_informational", "did_receive", "will_redirect",
    "did_end_hop", "will_retry", "did_validate_response", "did_extract", "did_validate_payload", "did_complete",
    "did_end_span",
  ]

  var event = ""
  var transaction = ""
  /// Nil if the log has no `sequence`.
  var sequence: Int64?
  /// Nil if the log has no `snapshot`.
  var snapshot: Int64?
  var timeNs: Int64 = 0
  var attempt: Int64 = 0
  var hop: Int64 = 0
  var requestID = ""
  var method = ""
  var url = ""
  var status: Int64?
  var receivedStatus: Int64?
  var outcome: String?
  var errorCode: String?
  var errorMessage: String?
  var errorStage: String?
  var delayNs: Int64?
  var durationNs: Int64?
  /// The sum of the phases of `timings`.
  var phasesNs: Int64?
  /// The members of `timings`; true is read as 1.
  var timings: [String: Int64] = [:]
  /// The trace of the line's hop or caller, or nil if the line has no trace.
  var traceId: String?
  var spanId: String?
  var parentSpanId: String?
  /// The attributes that stages have set, as JSON texts.
  var attributes: [String: String]?
  /// The span that a stage began.
  var span: EventSpan?

  init(_ text: [UInt8]) throws(LogComplaint) {
    guard let document = try? JSONValue(parsing: text, options: .rejectDuplicates), document.isObject else {
      throw LogComplaint("format", "not an object: \(String(decoding: text, as: UTF8.self))")
    }
    var missing: Set = ["event", "transaction", "timeNs", "attempt", "hop", "requestId", "method", "url"]
    for (name, value) in document.members {
      guard try read(name, value) else { throw LogComplaint("format", "\(name) in \(document)") }
      missing.remove(name)
    }
    guard missing.isEmpty else { throw LogComplaint("format", "no \(missing.sorted()) in \(document)") }
  }

  /// Returns false if the schema forbids the member or its value.
  private mutating func read(_ name: String, _ value: JSONValue) throws(LogComplaint) -> Bool {
    switch name {
    case "event": return Self.read(value.string, into: &event) && Self.names.contains(event)
    case "transaction": return Self.read(value.string, into: &transaction) && Self.isUUID(transaction)
    case "requestId": return Self.read(value.string, into: &requestID)
    case "method": return Self.read(value.string, into: &method)
    case "url": return Self.read(value.string, into: &url)
    case "timeNs": return Self.read(Self.count(value), into: &timeNs)
    case "attempt": return Self.read(Self.count(value), into: &attempt)
    case "hop": return Self.read(Self.count(value), into: &hop)
    case "sequence": sequence = Self.count(value)
    case "snapshot": snapshot = Self.count(value)
    case "delayNs": delayNs = Self.count(value)
    case "durationNs": durationNs = Self.count(value)
    case "status": status = Self.count(value, in: 100...999)
    case "receivedStatus": receivedStatus = Self.count(value, in: 0...999)
    case "outcome": outcome = value.string.flatMap { ["succeeded", "failed", "cancelled"].contains($0) ? $0 : nil }
    case "traceId": traceId = Self.id(value, digits: 32)
    case "spanId": spanId = Self.id(value, digits: 16)
    case "parentSpanId": parentSpanId = Self.id(value, digits: 16)
    case "error": return readError(value)
    case "attributes":
      attributes = value.members.reduce(into: [:]) { $0[$1.key] = $1.value.description }
      return event == "did_complete" && (1...64).contains(value.count)
        && value.members.allSatisfy {
          $0.value.isString || $0.value.integer != nil || $0.value.real != nil || $0.value.bool != nil
        }
    case "span":
      span = EventSpan(value)
      return span != nil
    case "timings":
      phasesNs = Self.phases(value)
      timings = value.members.reduce(into: [:]) { $0[$1.key] = $1.value.integer ?? ($1.value.bool == true ? 1 : 0) }
    default: return false
    }
    let optional: [Any?] = [
      sequence, snapshot, delayNs, durationNs, status, receivedStatus, outcome, phasesNs, traceId, spanId, parentSpanId,
    ]
    let names = [
      "sequence", "snapshot", "delayNs", "durationNs", "status", "receivedStatus", "outcome", "timings", "traceId",
      "spanId",
      "parentSpanId",
    ]
    return zip(names, optional).contains { $0 == name && $1 != nil }
  }

  private mutating func readError(_ value: JSONValue) -> Bool {
    errorCode = value["code"]?.string
    errorMessage = value["message"]?.string
    errorStage = value["stage"]?.string
    guard errorCode != nil, errorMessage != nil else { return false }
    return value.members.allSatisfy { ["code", "message", "stage"].contains($0.key) && $0.value.isString }
  }

  private static func phases(_ value: JSONValue) -> Int64? {
    var (sum, phaseCount): (Int64, Int) = (0, 0)
    for (name, member) in value.members {
      switch name {
      case "queueNs", "dnsNs", "connectNs", "tlsNs", "sendNs", "waitNs", "receiveNs":
        guard let phase = count(member) else { return nil }
        let (total, isTooMuch) = sum.addingReportingOverflow(phase)
        sum = isTooMuch ? .max : total
        phaseCount += 1
      case "bytesSent", "bytesReceived": guard count(member) != nil else { return nil }
      case "isConnectionReused": guard member.bool != nil else { return nil }
      default: return nil
      }
    }
    return phaseCount == 7 ? sum : nil
  }

  private static func read<Value>(_ value: Value?, into place: inout Value) -> Bool {
    if let value { place = value }
    return value != nil
  }

  static func count(_ value: JSONValue, in range: ClosedRange<Int64> = 0...Int64.max) -> Int64? {
    value.integer.flatMap { range.contains($0) ? $0 : nil }
  }

  /// Returns the text if it has this number of lower-case hexadecimal digits, not all of them 0. Otherwise, returns
  /// nil.
  static func id(_ value: JSONValue, digits: Int) -> String? {
    guard let text = value.string, text.utf8.count == digits, text.contains(where: { $0 != "0" }) else { return nil }
    return text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) } ? text : nil
  }

  /// Returns whether a text is a UUID of version 4 in lower case.
  private static func isUUID(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 36 else { return false }
    return bytes.enumerated().allSatisfy { index, byte in
      switch index {
      case 8, 13, 18, 23: byte == UInt8(ascii: "-")
      case 14: byte == UInt8(ascii: "4")
      case 19: [UInt8(ascii: "8"), UInt8(ascii: "9"), UInt8(ascii: "a"), UInt8(ascii: "b")].contains(byte)
      default: (48...57).contains(byte) || (97...102).contains(byte)
      }
    }
  }
}
