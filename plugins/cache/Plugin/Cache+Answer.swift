import CacheRules
import struct SluiceMessages.HeaderFields
import SluicePlugin

// Makes answers from stored responses.
extension Cache {
  /// Answers with an entry that can be used without the origin: with the whole body, with a part of it, or with 304 if
  /// the caller already has it. Returns false if only the origin can answer the request.
  func answer(_ request: StageRequest, _ facts: RequestFacts, _ entry: Entry, _ now: Timestamp) -> Bool {
    var status = CacheStatus()
    status.isHit = true
    status.timeToLive = wholeSeconds(freshness(entry.head).remaining(at: now))
    if facts.isConditional, entry.head.isUnmodified(for: facts) {
      fill(request.respond(status: 304), headers: usable(entry.head.headersForNotModified, entry), entry, now, status)
      return true
    }
    switch ByteRange(facts, of: entry.head, byteCount: entry.body.count) {
    case .unknown: return false
    case .whole: give(request, facts, entry, usable(entry.head.headers, entry), now, status)
    case .part(let range):
      var headers = usable(entry.head.headers, entry)
      headers["content-range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(entry.body.count)"
      if headers.contains("content-length") { headers["content-length"] = String(range.count) }
      let response = request.respond(status: 206)
      response.body = Array(entry.body[range])
      fill(response, headers: headers, entry, now, status)
    }
    return true
  }

  /// Answers with the whole entry, in place of the received response if there is one.
  func give(_ request: StageRequest, _ facts: RequestFacts, _ entry: Entry, _ now: Timestamp, _ status: CacheStatus) {
    give(request, facts, entry, entry.head.headers, now, status)
  }

  private func give(
    _ request: StageRequest, _ facts: RequestFacts, _ entry: Entry, _ headers: HeaderFields, _ now: Timestamp,
    _ status: CacheStatus
  ) {
    let response = request.respond(status: entry.head.status)
    if facts.method != "HEAD", !entry.body.isEmpty { response.body = entry.body }
    fill(response, headers: headers, entry, now, status)
  }

  /// The headers without the fields that `no-cache` names, because these must not be used before the origin has
  /// confirmed them (RFC 9111 §5.2.2.4).
  private func usable(_ headers: HeaderFields, _ entry: Entry) -> HeaderFields {
    let names = entry.head.control.fieldNames("no-cache")
    guard !names.isEmpty else { return headers }
    var headers = headers
    for name in names { headers.remove(name) }
    return headers
  }

  private func fill(
    _ response: StageResponse, headers: HeaderFields, _ entry: Entry, _ now: Timestamp, _ status: CacheStatus
  ) {
    headers.buffer.withUnsafeBytes { buffer in
      for index in headers.indices {
        // A stored field was valid when it was received, so it passes this check again.
        try? response.headers.add(
          UnsafeRawBufferPointer(rebasing: buffer[headers.valueRange(at: index)]),
          for: UnsafeRawBufferPointer(rebasing: buffer[headers.nameRange(at: index)]))
      }
    }
    response.headers["age"] = String(wholeSeconds(freshness(entry.head).age(at: now)))
    add(status, to: response)
  }

  /// Adds this cache's line to `Cache-Status`, after the lines of caches nearer to the origin (RFC 9211 §2).
  func add(_ status: CacheStatus, to response: StageResponse) {
    guard configuration.cacheStatus else { return }
    try? response.headers.add(status.text, for: "cache-status")
  }

  private func wholeSeconds(_ milliseconds: Int64) -> Int64 {
    milliseconds >= 0 ? milliseconds / 1000 : -((-milliseconds + 999) / 1000)
  }
}
