package import SluiceMessages

/// The facts of a request that matter for a cache.
package struct RequestFacts: Sendable {
  package let method: String
  package let headers: HeaderFields
  package let control: CacheControl
  /// Whether the caller asks for the response only if it has changed. The cache answers only if it can decide whether
  /// the response has changed.
  package let isConditional: Bool
  package let hasRange: Bool

  package init(method: String, headers: HeaderFields) {
    self.method = method
    self.headers = headers
    control = CacheControl(headers[values: "cache-control"])
    isConditional = headers.contains("if-none-match") || headers.contains("if-modified-since")
    hasRange = headers.contains("range")
  }

  /// Whether the request can be answered from stored responses, which is possible only for GET and HEAD.
  package var isCacheable: Bool { method == "GET" || method == "HEAD" }

  /// Whether the method may have changed something; this includes unknown methods (RFC 9110 §9.2.1).
  package var isUnsafe: Bool { Self.isUnsafe(method) }

  package static func isUnsafe(_ method: String) -> Bool {
    switch method {
    case "GET", "HEAD", "OPTIONS", "TRACE": false
    default: true
    }
  }

  /// Whether there are preconditions that only the origin can evaluate (RFC 9111 §4.3.2).
  package var isForOriginOnly: Bool { headers.contains("if-match") || headers.contains("if-unmodified-since") }

  /// Whether there is `no-cache`, or `Pragma: no-cache` without a `Cache-Control` (RFC 9111 §5.2.1.4, §5.4).
  package var isNoCache: Bool {
    if control.contains("no-cache") { return true }
    guard control.isEmpty, !headers.contains("cache-control") else { return false }
    return CacheControl(headers[values: "pragma"]).contains("no-cache")
  }

  package var isNoStore: Bool { control.contains("no-store") }

  package var isOnlyIfCached: Bool { control.contains("only-if-cached") }
}
