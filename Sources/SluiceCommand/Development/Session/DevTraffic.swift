/// The requests that are to be sent, and those that are on their way.
struct DevTraffic {
  /// More would only hide which of them does harm.
  private static let limit = 8

  /// Those of `-i`.
  let recorded: [String]
  private var waiting: [String]
  private(set) var inFlight: [Int64: String] = [:]
  private var lastID: Int64 = 0

  init(recorded: [String]) {
    self.recorded = recorded
    waiting = recorded
  }

  mutating func append(_ line: String) { waiting.append(line) }

  /// The next one that may be sent.
  mutating func next() -> (id: Int64, line: String)? {
    guard inFlight.count < Self.limit, !waiting.isEmpty else { return nil }
    lastID += 1
    let line = waiting.removeFirst()
    inFlight[lastID] = line
    return (lastID, line)
  }

  mutating func finish(_ id: Int64) { inFlight[id] = nil }

  /// Nobody answers these any more.
  mutating func giveUp() -> [String] {
    defer { inFlight = [:] }
    return inFlight.sorted { $0.key < $1.key }.map(\.value)
  }
}
