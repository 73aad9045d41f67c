import SluiceMessages

/// The part of a stored body that a request asks for (RFC 9110 §14): one range of bytes. Lists of ranges are left to the
/// origin.
package enum ByteRange: Sendable, Equatable {
  /// The request has no valid range, and gets the whole body.
  case whole
  case part(Range<Int>)
  /// The cache cannot answer the request.
  case unknown

  package init(_ request: RequestFacts, of head: StoredHead, byteCount: Int) {
    self = Self.decide(request, head, byteCount)
  }

  private static func decide(_ request: RequestFacts, _ head: StoredHead, _ byteCount: Int) -> ByteRange {
    guard request.method == "GET", let range = request.headers["range"] else { return .whole }
    guard head.status == 200, request.headers[values: "range"].count == 1 else { return .unknown }
    if let condition = request.headers["if-range"] {
      guard holds(condition, for: head) else { return .whole }
    }
    // The body is stored decoded, but ranges count the bytes of the coded body.
    guard !head.headers.contains("content-encoding"), range.lowercased().hasPrefix("bytes=") else { return .unknown }
    return parse(range.dropFirst(6).trimmed, byteCount)
  }

  /// Whether the condition holds: `If-Range` with a strong tag, or with exactly the date of the last change (§13.1.5).
  private static func holds(_ condition: String, for head: StoredHead) -> Bool {
    if let tag = EntityTag(condition) { return head.entityTag.map { tag.matchesStrongly($0) } ?? false }
    guard let date = HTTPDate(condition, now: head.received.date) else { return false }
    return date == head.lastModified
  }

  private static func parse(_ spec: Substring, _ byteCount: Int) -> ByteRange {
    let parts = spec.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let first = parts.first, let last = parts.last else { return .unknown }
    guard let start = deltaSeconds(String(first)) else {
      guard first.isEmpty, let length = deltaSeconds(String(last)), length > 0, byteCount > 0 else { return .unknown }
      return .part(max(0, byteCount - Int(length))..<byteCount)
    }
    guard start < byteCount else { return .unknown }
    if last.isEmpty { return .part(Int(start)..<byteCount) }
    guard let end = deltaSeconds(String(last)), end >= start else { return .unknown }
    return .part(Int(start)..<min(Int(end) + 1, byteCount))
  }
}
