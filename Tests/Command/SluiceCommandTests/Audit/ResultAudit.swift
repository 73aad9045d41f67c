import SluiceJSON

/// Checks, line by line, that the results of a run agree with its events.
struct ResultAudit {
  private(set) var complaints: [String] = []
  /// The number of results for each id.
  private(set) var results: [Int: Int] = [:]
  private(set) var codes: [String: Int] = [:]
  private(set) var attemptCount: Int64 = 0
  private let log: EventLogAudit
  private let url: (Int) -> String

  /// - Parameter url: the URL that the first event of a line must name.
  init(_ log: EventLogAudit, url: @escaping (Int) -> String) {
    self.log = log
    self.url = url
  }

  mutating func read(_ line: [UInt8]) {
    guard let result = try? JSONValue(parsing: line), let id = result["id"]?.integer.map({ Int($0) }) else {
      return complain("no result: \(String(decoding: line, as: UTF8.self))")
    }
    results[id, default: 0] += 1
    codes[result["error"]?["code"]?.string ?? "none", default: 0] += 1
    attemptCount += result["attempts"]?.integer ?? 0
    guard let requestId = result["requestId"]?.string, let (first, last) = log.ends[requestId] else {
      return complain("no event has the request id of \(result)")
    }
    for (what, isSame) in comparisons(result, last) where !isSame { complain("\(what): \(result) after \(last)") }
    // A request without an id has the id of its transaction.
    let expected = id % 2 == 0 ? "r\(id)" : first.transaction
    if requestId != expected { complain("\(requestId) in place of \(expected)") }
    if first.url != url(id) { complain("\(first.url) in place of \(url(id))") }
  }

  private func comparisons(_ result: JSONValue, _ end: EventLine) -> [(String, Bool)] {
    let error = result["error"]
    let milliseconds = result["durationMs"]?.number ?? -1
    return [
      ("outcome", (error == nil) == (end.outcome == "succeeded")),
      ("code", error?["code"]?.string == end.errorCode),
      ("message", error?["message"]?.string == end.errorMessage),
      ("stage", error?["stage"]?.string == end.errorStage),
      ("status", result["response"]?["status"]?.integer == end.status),
      ("attempts", result["attempts"]?.integer == end.attempt + 1),
      // A result is rounded to microseconds.
      ("duration", abs(milliseconds * 1_000_000 - Double(end.durationNs ?? 0)) <= 1000),
    ]
  }

  private mutating func complain(_ complaint: String) {
    if complaints.count < 20 { complaints.append(complaint) }
  }
}
