/// The requests that are still to be sent, and the requests in flight.
struct DevTraffic {
  /// The limit of requests in flight. With a higher limit, it would be hard to see which request caused a crash.
  private static let limit = 8

  private var waiting: [(line: String, isOfSet: Bool)]
  private(set) var inFlight: [Int64: String] = [:]
  private var lastID: Int64 = 0

  /// - Parameter recorded: the requests of `-i`.
  init(recorded: [String]) { waiting = recorded.map { ($0, true) } }

  mutating func append(_ line: String) { waiting.append((line, false)) }

  /// Takes the next request that may be sent.
  mutating func next() -> (id: Int64, line: String, isOfSet: Bool)? {
    guard inFlight.count < Self.limit, !waiting.isEmpty else { return nil }
    lastID += 1
    let (line, isOfSet) = waiting.removeFirst()
    inFlight[lastID] = line
    return (lastID, line, isOfSet)
  }

  mutating func finish(_ id: Int64) { inFlight[id] = nil }

  /// Forgets the requests in flight, because they will not be answered. Returns their lines.
  mutating func giveUp() -> [String] {
    defer { inFlight = [:] }
    return inFlight.sorted { $0.key < $1.key }.map(\.value)
  }
}
