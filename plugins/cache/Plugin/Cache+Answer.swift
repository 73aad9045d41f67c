import CacheRules
import struct SluiceMessages.HeaderFields
import SluicePlugin

// Making answers of what is stored.
extension Cache {
  /// Answers with an entry that may be used as it is: as a whole, as a part, or with 304 where the caller has it already.
  /// False where the request asks for something that only the origin can give.
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

  /// Answers with the whole of an entry, in place of whatever came or did not come.
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

  /// Without the fields that `no-cache` names: those would have to be confirmed first (RFC 9111 §5.2.2.4).
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
        // What was stored passed the same check when it came.
        try? response.headers.add(
          UnsafeRawBufferPointer(rebasing: buffer[headers.valueRange(at: index)]),
          for: UnsafeRawBufferPointer(rebasing: buffer[headers.nameRange(at: index)]))
      }
    }
    response.headers["age"] = String(wholeSeconds(freshness(entry.head).age(at: now)))
    add(status, to: response)
  }

  /// A further line of the list, after what caches nearer to the origin said (RFC 9211 §2).
  func add(_ status: CacheStatus, to response: StageResponse) {
    guard configuration.cacheStatus else { return }
    try? response.headers.add(status.text, for: "cache-status")
  }

  private func wholeSeconds(_ milliseconds: Int64) -> Int64 {
    milliseconds >= 0 ? milliseconds / 1000 : -((-milliseconds + 999) / 1000)
  }
}
