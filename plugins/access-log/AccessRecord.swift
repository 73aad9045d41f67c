import Glibc
import SluicePlugin

/// The content of a line, copied from the event.
struct AccessRecord: Sendable {
  typealias Field = (name: String, value: String)
  typealias Attribute = (name: String, value: AttributeValue)

  let time: timespec
  let transactionID: TransactionID
  let requestID: String
  let method: String
  let url: String
  let client: String?
  let status: Int?
  let outcome: TransactionOutcome?
  let reason: TransactionEvent.Reason?
  let attempts: Int
  let duration: Duration
  let timings: TransferTimings?
  let requestHeaders: [Field]
  let responseHeaders: [Field]
  let attributes: [Attribute]

  init(_ event: borrowing TransactionEvent, _ configuration: AccessLogConfiguration, _ clients: HostClients?) {
    time = .now
    transactionID = event.transactionID
    requestID = event.requestID
    method = event.method
    url = event.url
    client = event.request.flatMap { clients?.facts(of: $0)?.peer?.host }
    status = event.status
    outcome = event.outcome
    reason = event.reason
    attempts = event.attemptNumber + 1
    duration = event.duration
    timings = event.timings
    requestHeaders = pick(configuration.requestHeaders, from: event.request?.headers)
    responseHeaders = pick(configuration.responseHeaders, from: event.response?.headers)
    attributes = pick(configuration.attributes, from: event.attributes)
  }
}

extension timespec {
  static var now: timespec {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time
  }
}

/// Joins the values of a repeated field with commas, because a single field with that list means the same (RFC 9110
/// §5.3).
private func pick(_ names: [String], from headers: Headers?) -> [AccessRecord.Field] {
  guard let headers, !names.isEmpty else { return [] }
  return names.compactMap { name in
    let values = headers.values(name)
    return values.isEmpty ? nil : (name.lowercased(), values.joined(separator: ", "))
  }
}

private func pick(_ names: [String], from attributes: TransactionAttributes?) -> [AccessRecord.Attribute] {
  guard let attributes, !names.isEmpty else { return [] }
  return names.compactMap { name in
    guard let value = attributes[name] else { return nil }
    return (name, attributes.isSensitive(name) ? .text(Redaction.placeholder) : value)
  }
}
