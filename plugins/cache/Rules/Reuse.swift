/// Whether a stored response answers a request (RFC 9111 §4).
package enum Reuse: Sendable, Equatable {
  case fresh
  /// The response is stale, and the request accepts that (`max-stale`).
  case stale
  /// The origin must confirm the response first.
  case validate(Reason)

  package enum Reason: String, Sendable {
    case stale
    /// The request demands an answer from the origin.
    case request
    /// The response must be validated each time (`no-cache`).
    case response
  }

  /// - Parameter isShared: whether the cache is shared by several clients.
  package init(
    of head: StoredHead, _ freshness: Freshness, isShared: Bool, for request: RequestFacts, at now: Timestamp
  ) {
    self = Self.decide(head.control, freshness, isShared, request, now)
  }

  private static func decide(
    _ control: CacheControl, _ freshness: Freshness, _ isShared: Bool, _ request: RequestFacts, _ now: Timestamp
  ) -> Reuse {
    if control.forbidsUnvalidatedUse { return .validate(.response) }
    if request.isNoCache { return .validate(.request) }
    let age = freshness.age(at: now)
    guard freshness.isFresh(at: now) else {
      let acceptsStale =
        !control.forbidsStaleUse(isShared: isShared) && acceptsStale(request, -freshness.remaining(at: now))
      return acceptsStale ? .stale : .validate(.stale)
    }
    // An `immutable` response does not change while it is fresh, so a reload does not fetch it again (RFC 8246 §2.1).
    if !control.contains("immutable"), isTooOld(request, age) { return .validate(.request) }
    if case .value(let seconds) = request.control.seconds("min-fresh"), freshness.remaining(at: now) < seconds * 1000 {
      return .validate(.request)
    }
    return .fresh
  }

  /// Applies the request's `max-age`. A `max-stale` in the same request can allow more (§5.2.1.1).
  private static func isTooOld(_ request: RequestFacts, _ age: Int64) -> Bool {
    switch request.control.seconds("max-age") {
    case .absent: false
    case .invalid: true
    case .value(let seconds): age > seconds * 1000 || seconds == 0
    }
  }

  private static func acceptsStale(_ request: RequestFacts, _ staleness: Int64) -> Bool {
    guard request.control.contains("max-stale") else { return false }
    if case .value(let seconds) = request.control.seconds("max-age"), seconds == 0 { return false }
    guard request.control.argument("max-stale") != nil else { return true }
    guard case .value(let seconds) = request.control.seconds("max-stale") else { return false }
    return staleness <= seconds * 1000
  }
}

extension CacheControl {
  /// Whether there is a `no-cache` without field names. With field names, `no-cache` applies only to these fields, not
  /// to the whole response.
  var forbidsUnvalidatedUse: Bool { contains("no-cache") && fieldNames("no-cache").isEmpty }

  /// Whether a stale response must not be used before the origin has confirmed it. For shared caches, two further
  /// directives say so (RFC 9111 §5.2.2.8, §5.2.2.10).
  func forbidsStaleUse(isShared: Bool) -> Bool {
    contains("must-revalidate") || isShared && (contains("proxy-revalidate") || contains("s-maxage"))
  }

  /// Whether a shared cache may store the response to a request with credentials (RFC 9111 §3.5).
  var isForClientsWithCredentials: Bool { ["public", "must-revalidate", "s-maxage"].contains { contains($0) } }

  /// Whether the response is the same for all clients, as the origin says.
  package func isForEveryone(isShared: Bool) -> Bool { contains("public") || isShared && contains("s-maxage") }
}

extension StoredHead {
  /// Whether this response can be used if the origin has failed (RFC 5861 §4). The `stale-if-error` of the request
  /// decides, otherwise that of the response, otherwise `defaultLimit`.
  /// - Parameters:
  ///   - isShared: whether the cache is shared by several clients.
  ///   - defaultLimit: how long after the lifetime the configuration allows this, in milliseconds.
  package func mayStandInForError(
    _ freshness: Freshness, isShared: Bool, for request: RequestFacts, at now: Timestamp, defaultLimit: Int64
  ) -> Bool {
    let control = control
    if control.forbidsUnvalidatedUse || control.forbidsStaleUse(isShared: isShared) || request.isNoCache {
      return false
    }
    let staleness = -freshness.remaining(at: now)
    let limits = [request.control, control].compactMap { control -> Int64? in
      if case .value(let seconds) = control.seconds("stale-if-error") { seconds * 1000 } else { nil }
    }
    return staleness <= (limits.first ?? defaultLimit)
  }
}
