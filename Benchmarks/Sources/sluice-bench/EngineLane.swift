import Sluice

/// Requests that one loop of an engine submits and completes, a fixed number at a time.
final class EngineLane: @unchecked Sendable {
  // Sendable: after `begin`, only one loop changes the state until `whenDone` is called.
  private let engine: Engine
  private let request: Request
  private let connections: Int
  private let whenDone: @Sendable () -> Void
  private var toStart = 0
  private var running = 0
  private(set) var failed = 0

  init(_ engine: Engine, _ request: Request, connections: Int, whenDone: @escaping @Sendable () -> Void) {
    self.engine = engine
    self.request = request
    self.connections = connections
    self.whenDone = whenDone
  }

  /// Called on the lane's loop, so that each request is submitted where it runs.
  func begin(requests: Int) {
    toStart = requests
    failed = 0
    guard requests > 0 else { return whenDone() }
    for _ in 0..<min(connections, requests) { startNext() }
  }

  private func startNext() {
    toStart -= 1
    running += 1
    engine.submit(request, completion: completion)
  }

  // Keeps a strong reference to the lane, because each use of a weak reference would cost reference counting. The lane
  // exists as long as the program anyway.
  private lazy var completion: @Sendable (TransactionResult) -> Void = { [self] result in
    running -= 1
    if result.error != nil { failed += 1 }
    if toStart > 0 { startNext() } else if running == 0 { whenDone() }
  }
}
