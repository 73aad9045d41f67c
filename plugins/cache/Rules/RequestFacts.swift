public import SluiceMessages

/// What a request says about the use of a cache.
public struct RequestFacts: Sendable {
  public let method: String
  public let headers: HeaderFields
  public let control: CacheControl
  /// The caller asks for what has changed, or for a part; answered here only where that can be told.
  public let isConditional: Bool
  public let hasRange: Bool

  public init(method: String, headers: HeaderFields) {
    self.method = method
    self.headers = headers
    control = CacheControl(headers[values: "cache-control"])
    isConditional = headers.contains("if-none-match") || headers.contains("if-modified-since")
    hasRange = headers.contains("range")
  }

  /// GET and HEAD are what is answered from what is stored.
  public var isCacheable: Bool { method == "GET" || method == "HEAD" }

  /// Methods that may have changed something, unknown ones included (RFC 9110 §9.2.1).
  public var isUnsafe: Bool { Self.isUnsafe(method) }

  public static func isUnsafe(_ method: String) -> Bool {
    switch method {
    case "GET", "HEAD", "OPTIONS", "TRACE": false
    default: true
    }
  }

  /// Preconditions of changes, and conditions on ranges: for the origin alone (RFC 9111 §4.3.2).
  public var isForOriginOnly: Bool { headers.contains("if-match") || headers.contains("if-unmodified-since") }

  /// `no-cache`, or `Pragma: no-cache` where there is no `Cache-Control` (RFC 9111 §5.2.1.4, §5.4).
  public var isNoCache: Bool {
    if control.contains("no-cache") { return true }
    guard control.isEmpty, !headers.contains("cache-control") else { return false }
    return CacheControl(headers[values: "pragma"]).contains("no-cache")
  }

  public var isNoStore: Bool { control.contains("no-store") }

  public var isOnlyIfCached: Bool { control.contains("only-if-cached") }
}
