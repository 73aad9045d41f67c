import SluiceMessages

/// How long a response may be used without asking the origin, and how old it is (RFC 9111 §4.2).
package struct Freshness: Sendable, Equatable {
  /// In milliseconds; 0 for a response that is stale at once.
  package var lifetime: Int64
  /// Whether the lifetime is guessed from the last change, because the origin gives none (§4.2.2).
  package var isHeuristic: Bool
  /// The age of the response when it was received, in milliseconds (§4.2.3, corrected_initial_age).
  package var initialAge: Int64
  /// The time at which the response was received. From then on, this cache counts its age.
  package var received: Timestamp

  /// - Parameters:
  ///   - isShared: whether the cache is shared by several clients.
  ///   - heuristicLimit: the longest guess, in milliseconds.
  package init(of head: StoredHead, isShared: Bool, heuristicLimit: Int64) {
    (lifetime, isHeuristic) = Self.lifetime(of: head, isShared, heuristicLimit)
    initialAge = Self.initialAge(of: head)
    received = head.received
  }

  /// The age in milliseconds. Even if the clock was set back, it is at least the age at reception.
  package func age(at now: Timestamp) -> Int64 { initialAge + max(0, now.milliseconds - received.milliseconds) }

  package func isFresh(at now: Timestamp) -> Bool { lifetime > age(at: now) }

  /// The remaining lifetime in milliseconds; negative if the response is stale.
  package func remaining(at now: Timestamp) -> Int64 { lifetime - age(at: now) }

  /// `s-maxage` is for shared caches only, and there it comes first (§5.2.2.10).
  private static func lifetime(
    of head: StoredHead, _ isShared: Bool, _ heuristicLimit: Int64
  ) -> (Int64, isHeuristic: Bool) {
    let control = head.control
    for name in isShared ? ["s-maxage", "max-age"] : ["max-age"] {
      switch control.seconds(name) {
      case .value(let seconds): return (seconds * 1000, false)
      case .invalid: return (0, false)
      case .absent: break
      }
    }
    if head.headers.contains("expires") {
      guard let expires = head.headers.date("expires", now: head.received) else { return (0, false) }
      return (max(0, expires.secondsSince1970 - head.date.secondsSince1970) * 1000, false)
    }
    guard Status.isHeuristicallyCacheable(head.status) || control.contains("public"), let changed = head.lastModified
    else { return (0, true) }
    let unchanged = max(0, head.date.secondsSince1970 - changed.secondsSince1970) * 1000
    return (min(unchanged / 10, heuristicLimit), true)
  }

  private static func initialAge(of head: StoredHead) -> Int64 {
    let apparent = max(0, head.received.wholeSeconds - head.date.secondsSince1970) * 1000
    let delay = max(0, head.received.milliseconds - head.requested.milliseconds)
    return max(apparent, ageValue(head.headers) * 1000 + delay)
  }

  /// `Age` is one number. If there are several values, the first counts; a value that is not a number is ignored
  /// (§5.1).
  private static func ageValue(_ headers: HeaderFields) -> Int64 {
    guard let line = headers["age"] else { return 0 }
    let first = line.prefix { $0 != "," }
    return deltaSeconds(String(first.trimmed)) ?? 0
  }
}

extension Substring {
  /// The text without the spaces and tabs at either end.
  var trimmed: Substring {
    var text = self
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}
