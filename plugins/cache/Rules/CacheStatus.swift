/// One member of `Cache-Status`: what this cache did with a request (RFC 9211).
package struct CacheStatus: Sendable, Equatable {
  /// Why a request was forwarded (§2.2).
  package enum Forwarded: String, Sendable {
    case bypass, method, request, stale
    case uriMiss = "uri-miss"
    case varyMiss = "vary-miss"
  }

  /// Whether the request was answered without the origin.
  package var isHit = false
  package var forwarded: Forwarded?
  /// The status of the origin's answer.
  package var forwardedStatus: Int?
  package var isStored = false
  /// Seconds of remaining freshness; negative for a stale response.
  package var timeToLive: Int64?
  package var detail: String?

  package init() {}

  package var text: String {
    var text = "sluice"
    if isHit { text += "; hit" }
    if let forwarded { text += "; fwd=\(forwarded.rawValue)" }
    if let forwardedStatus { text += "; fwd-status=\(forwardedStatus)" }
    if isStored { text += "; stored" }
    if let timeToLive { text += "; ttl=\(timeToLive)" }
    if let detail { text += "; detail=\(detail)" }
    return text
  }
}
