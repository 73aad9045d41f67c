/// The requests that are to be sent, and those that are on their way.
struct DevTraffic {
  /// More would only hide which of them does harm.
  private static let limit = 8

  private var waiting: [(line: String, isOfSet: Bool)]
  private(set) var inFlight: [Int64: String] = [:]
  private var lastID: Int64 = 0

  /// - Parameter recorded: those of `-i`.
  init(recorded: [String]) { waiting = recorded.map { ($0, true) } }

  mutating func append(_ line: String) { waiting.append((line, false)) }

  /// The next one that may be sent.
  mutating func next() -> (id: Int64, line: String, isOfSet: Bool)? {
    guard inFlight.count < Self.limit, !waiting.isEmpty else { return nil }
    lastID += 1
    let (line, isOfSet) = waiting.removeFirst()
    inFlight[lastID] = line
    return (lastID, line, isOfSet)
  }

  mutating func finish(_ id: Int64) { inFlight[id] = nil }

  /// Nobody answers these any more.
  mutating func giveUp() -> [String] {
    defer { inFlight = [:] }
    return inFlight.sorted { $0.key < $1.key }.map(\.value)
  }
}
