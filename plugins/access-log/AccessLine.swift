import Glibc
import SluiceMessages
import SluicePlugin

/// Formats a record as one line of JSON, with secrets redacted.
struct AccessLine: Sendable {
  let redaction: Redaction

  func bytes(of record: AccessRecord) -> [UInt8] {
    var line = JSONText(capacity: 512)
    line.object { add(record, to: &$0) }
    return line.line()
  }

  private func add(_ record: AccessRecord, to line: inout JSONText) {
    line.text("time", rfc3339(record.time))
    line.text("transactionId", record.transactionID.description)
    line.text("requestId", record.requestID)
    line.text("method", record.method)
    line.text("url", redaction.url(record.url))
    if let client = record.client { line.text("client", client) }
    if let status = record.status { line.number("status", status) }
    line.text("outcome", word(record.outcome))
    if let reason = record.reason { add(reason, to: &line) }
    line.number("attempts", record.attempts)
    line.milliseconds("durationMs", record.duration)
    if let timings = record.timings { add(timings, to: &line) }
    add("requestHeaders", record.requestHeaders, to: &line)
    add("responseHeaders", record.responseHeaders, to: &line)
    add(record.attributes, to: &line)
  }

  private func add(_ reason: TransactionEvent.Reason, to line: inout JSONText) {
    line.object("error") { line in
      line.text("code", reason.code.rawValue)
      line.text("message", reason.message)
      if let stage = reason.stage { line.text("stage", stage) }
    }
  }

  private func add(_ timings: TransferTimings, to line: inout JSONText) {
    line.number("bytesSent", timings.bytesSent)
    line.number("bytesReceived", timings.bytesReceived)
    line.object("timingsMs") { line in
      line.milliseconds("queue", timings.queue)
      line.milliseconds("nameLookup", timings.nameLookup)
      line.milliseconds("connect", timings.connect)
      line.milliseconds("tlsHandshake", timings.tlsHandshake)
      line.milliseconds("send", timings.send)
      line.milliseconds("wait", timings.wait)
      line.milliseconds("receive", timings.receive)
    }
  }

  private func add(_ key: String, _ fields: [AccessRecord.Field], to line: inout JSONText) {
    guard !fields.isEmpty else { return }
    line.object(key) { line in
      for field in fields { line.text(field.name, redaction.value(field.value, ofHeader: field.name)) }
    }
  }

  private func add(_ attributes: [AccessRecord.Attribute], to line: inout JSONText) {
    guard !attributes.isEmpty else { return }
    line.object("attributes") { line in
      for attribute in attributes { add(attribute, to: &line) }
    }
  }

  private func add(_ attribute: AccessRecord.Attribute, to line: inout JSONText) {
    switch attribute.value {
    case .text(let text): line.text(attribute.name, text)
    case .integer(let integer): line.number(attribute.name, integer)
    case .number(let number): line.real(attribute.name, number)
    case .bool(let bool): line.flag(attribute.name, bool)
    }
  }

  private func word(_ outcome: TransactionOutcome?) -> String {
    switch outcome {
    case .succeeded: "succeeded"
    case .failed: "failed"
    case .cancelled: "cancelled"
    case nil: "unknown"
    }
  }
}

extension JSONText {
  /// A duration in milliseconds with three decimals, that is, with a precision of microseconds.
  fileprivate mutating func milliseconds(_ key: String, _ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    value(key, json: "\(microseconds / 1000).\(padded(Int(microseconds % 1000), 3))")
  }
}

/// Coordinated Universal Time with milliseconds, in the form of RFC 3339 §5.6.
func rfc3339(_ time: timespec) -> String {
  var seconds = time.tv_sec
  var parts = tm()
  gmtime_r(&seconds, &parts)
  let year = padded(Int(parts.tm_year) + 1900, 4)
  let date = "\(year)-\(padded(Int(parts.tm_mon) + 1, 2))-\(padded(Int(parts.tm_mday), 2))"
  let clock = "\(padded(Int(parts.tm_hour), 2)):\(padded(Int(parts.tm_min), 2)):\(padded(Int(parts.tm_sec), 2))"
  return "\(date)T\(clock).\(padded(time.tv_nsec / 1_000_000, 3))Z"
}

private func padded(_ number: Int, _ width: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
