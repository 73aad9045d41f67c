/// How many requests a server takes on a connection of HTTP/2, learned from the requests that it has refused without
/// processing them.
///
/// A server that closes each connection after some requests (RFC 9113 §6.8) refuses the requests that are already on
/// their way. So the next connection first carries only as many requests as the server has processed on the previous
/// one. When all of these have ended, it can carry more. A server that refuses single streams (RFC 9113 §8.7) cannot
/// handle so many streams at a time. Such a server gets only as many streams at a time as were open after its refusal,
/// and one more after each response.
struct HTTP2Refusals {
  /// The maximum number of requests on the connection. When that many requests have ended, the maximum is doubled.
  /// `Int.max` means no limit.
  private var allowance: Int
  /// The maximum number of streams at a time.
  private var streams = Int.max
  private var refusals = 0
  private var settledRefusals = 0
  /// Whether the server has refused streams without closing the connection, and has not answered a request since then.
  private(set) var isRefusing = false

  init(allowance: Int) { self.allowance = allowance }

  /// How many more requests the connection should carry.
  func room(requests: Int, open: Int) -> Int { min(allowance - requests, streams - open) }

  mutating func noteRefusal() { refusals += 1 }

  /// Notes that the head of a response has arrived.
  mutating func noteResponse() {
    isRefusing = false
    if streams < .max { streams += 1 }
  }

  /// Updates the limits after the frames of one read. Returns whether there is more room now.
  ///
  /// - Parameters:
  ///   - requests: the number of requests that were issued on the connection.
  ///   - open: the number of these requests that have not ended.
  ///   - next: the maximum number of requests for the next connection; changed if this connection has shown another
  ///     limit.
  mutating func settle(requests: Int, open: Int, isDraining: Bool, next: inout Int) -> Bool {
    if refusals > settledRefusals {
      settledRefusals = refusals
      if isDraining {
        next = max(1, requests - refusals)
      } else {
        streams = max(1, open)
        isRefusing = true
      }
      return false
    }
    guard !isDraining, allowance < .max, requests - open >= allowance else { return false }
    allowance *= 2
    next = max(next, allowance)
    return true
  }
}
