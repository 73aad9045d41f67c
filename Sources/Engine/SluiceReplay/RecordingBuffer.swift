import SluiceMessages
public import SluicePipeline

/// The last recordings. When a new recording does not fit, the oldest recordings are dropped.
public struct RecordingBuffer: Sendable {
  /// The recordings, the oldest first.
  public private(set) var exchanges: [RecordedExchange] = []
  /// The number of recordings that were dropped to make room.
  package private(set) var droppedCount = 0
  private var sizes: [Int] = []
  private var byteCount = 0
  private let maximumCount: Int
  private let maximumBytes: Int

  /// - Parameters:
  ///   - maximumCount: the maximum number of recordings.
  ///   - maximumBytes: the memory for all messages together. Bodies in files do not count.
  public init(maximumCount: Int = 100, maximumBytes: Int = 16 << 20) {
    self.maximumCount = max(1, maximumCount)
    self.maximumBytes = maximumBytes
  }

  /// The newest recording always stays, even if it is too large.
  public mutating func append(_ exchange: RecordedExchange) {
    exchanges.append(exchange)
    sizes.append(exchange.byteCount)
    byteCount += exchange.byteCount
    var extra = 0
    while exchanges.count - extra > 1, exchanges.count - extra > maximumCount || byteCount > maximumBytes {
      byteCount -= sizes[extra]
      extra += 1
    }
    guard extra > 0 else { return }
    // Call-outs are kept, because their answers, such as a token, often serve later exchanges.
    let callOuts = exchanges[...extra].flatMap(\.callOuts).suffix(Self.maximumKeptCallOuts)
    exchanges.removeFirst(extra)
    sizes.removeFirst(extra)
    droppedCount += extra
    exchanges[0].callOuts = Array(callOuts)
  }

  private static let maximumKeptCallOuts = 64
}

extension RecordedExchange {
  /// The approximate size in memory.
  package var byteCount: Int {
    let start =
      256 + request.headers.wireByteCount + request.url.string.utf8.count + (request.body.bytes?.count ?? 0)
      + callOuts.reduce(0) { $0 + $1.byteCount }
    return hops.reduce(start) {
      guard let response = $1.response else { return $0 + 128 }
      return $0 + 256 + response.headers.wireByteCount + (response.body.bytes?.count ?? 0)
    }
  }
}
