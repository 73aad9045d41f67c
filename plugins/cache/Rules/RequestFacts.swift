package import SluiceMessages

/// What a request says about the use of a cache.
package struct RequestFacts: Sendable {
  package let method: String
  package let headers: HeaderFields
  package let control: CacheControl
  /// The caller asks for what has changed, or for a part; answered here only where that can be told.
  package let isConditional: Bool
  package let hasRange: Bool

  package init(method: String, headers: HeaderFields) {
    self.method = method
    self.headers = headers
    control = CacheControl(headers[values: "cache-control"])
    isConditional = headers.contains("if-none-match") || headers.contains("if-modified-since")
    hasRange = headers.contains("range")
  }

  /// GET and HEAD are what is answered from what is stored.
  package var isCacheable: Bool { method == "GET" || method == "HEAD" }

  /// Methods that may have changed something, unknown ones included (RFC 9110 §9.2.1).
  package var isUnsafe: Bool { Self.isUnsafe(method) }

  package static func isUnsafe(_ method: String) -> Bool {
    switch method {
    case "GET", "HEAD", "OPTIONS", "TRACE": false
    default: true
    }
  }

  /// Preconditions of changes, and conditions on ranges: for the origin alone (RFC 9111 §4.3.2).
  package var isForOriginOnly: Bool { headers.contains("if-match") || headers.contains("if-unmodified-since") }

  /// `no-cache`, or `Pragma: no-cache` where there is no `Cache-Control` (RFC 9111 §5.2.1.4, §5.4).
  package var isNoCache: Bool {
    if control.contains("no-cache") { return true }
    guard control.isEmpty, !headers.contains("cache-control") else { return false }
    return CacheControl(headers[values: "pragma"]).contains("no-cache")
  }

  package var isNoStore: Bool { control.contains("no-store") }

  package var isOnlyIfCached: Bool { control.contains("only-if-cached") }
}
