import CacheRules
import SluiceMessages

/// 2026-01-01T00:00:00Z. The tests give other times relative to this one.
let noon = Timestamp(seconds: 1_767_225_600)

extension Timestamp {
  static func + (left: Timestamp, seconds: Double) -> Timestamp {
    Timestamp(milliseconds: left.milliseconds + Int64(seconds * 1000))
  }

  /// The time as text in a header.
  var text: String { date.description }
}

/// A 200 that was requested and received at ``noon`` by default.
func stored(
  _ headers: HeaderFields, status: Int = 200, requested: Timestamp = noon, received: Timestamp = noon
) -> StoredHead {
  StoredHead(status: status, headers: headers, requested: requested, received: received)
}

func asking(_ headers: HeaderFields = [:], method: String = "GET") -> RequestFacts {
  RequestFacts(method: method, headers: headers)
}

let day: Int64 = 86_400_000

extension StoredHead {
  var freshness: Freshness { freshness(isShared: false) }

  func freshness(isShared: Bool) -> Freshness { Freshness(of: self, isShared: isShared, heuristicLimit: day) }

  func reuse(_ request: HeaderFields = [:], isShared: Bool = false, after seconds: Double) -> Reuse {
    Reuse(of: self, freshness(isShared: isShared), isShared: isShared, for: asking(request), at: noon + seconds)
  }
}
