import Glibc
import SluicePlugin

/// Writes a record as one line of JSON, with redacted secrets.
struct AccessLine: Sendable {
  let redaction: Redaction

  func bytes(of record: AccessRecord) -> [UInt8] {
    var line = JSONLine()
    line.add("time", rfc3339(record.time))
    line.add("transactionId", record.transactionID.description)
    line.add("requestId", record.requestID)
    line.add("method", record.method)
    line.add("url", redaction.url(record.url))
    if let status = record.status { line.add("status", status) }
    line.add("outcome", word(record.outcome))
    if let reason = record.reason { add(reason, to: &line) }
    line.add("attempts", record.attempts)
    line.add("durationMs", milliseconds: record.duration)
    if let timings = record.timings { add(timings, to: &line) }
    add("requestHeaders", record.requestHeaders, to: &line)
    add("responseHeaders", record.responseHeaders, to: &line)
    add(record.attributes, to: &line)
    return line.finished()
  }

  private func add(_ reason: TransactionEvent.Reason, to line: inout JSONLine) {
    line.open("error")
    line.add("code", reason.code.rawValue)
    line.add("message", reason.message)
    if let stage = reason.stage { line.add("stage", stage) }
    line.close()
  }

  private func add(_ timings: TransferTimings, to line: inout JSONLine) {
    line.add("bytesSent", Int(clamping: timings.bytesSent))
    line.add("bytesReceived", Int(clamping: timings.bytesReceived))
    line.open("timingsMs")
    line.add("queue", milliseconds: timings.queue)
    line.add("nameLookup", milliseconds: timings.nameLookup)
    line.add("connect", milliseconds: timings.connect)
    line.add("tlsHandshake", milliseconds: timings.tlsHandshake)
    line.add("send", milliseconds: timings.send)
    line.add("wait", milliseconds: timings.wait)
    line.add("receive", milliseconds: timings.receive)
    line.close()
  }

  private func add(_ key: String, _ fields: [AccessRecord.Field], to line: inout JSONLine) {
    guard !fields.isEmpty else { return }
    line.open(key)
    for field in fields { line.add(field.name, redaction.value(field.value, ofHeader: field.name)) }
    line.close()
  }

  private func add(_ attributes: [AccessRecord.Attribute], to line: inout JSONLine) {
    guard !attributes.isEmpty else { return }
    line.open("attributes")
    for attribute in attributes { line.add(attribute.name, attribute.value) }
    line.close()
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

/// Universal time with milliseconds, in the form of RFC 3339 §5.6.
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
