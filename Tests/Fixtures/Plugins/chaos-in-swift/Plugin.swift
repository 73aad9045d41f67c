public import SluicePlugin
import SluiceSupport

/// Performs random actions: it sleeps, waits for its own thread, sets data, answers the request, asks for a retry, or
/// fails. Some calls return only after their request has timed out or was cancelled. The actions depend only on `seed`
/// and on the request.
struct ChaosInSwift: Plugin, RequestInterceptor, ResponseInterceptor, FailureInterceptor {
  struct Configuration: Decodable, Sendable { var seed: Int64 }

  static let information = PluginInformation(
    id: "org.example.chaos-in-swift", version: "1.0.0", summary: "A fixture of the tests.")

  private let seed: UInt64
  private let host: PluginHost
  private let thread = ResumingThread()

  init(configuration: Configuration, host: PluginHost) {
    seed = UInt64(bitPattern: configuration.seed)
    self.host = host
  }

  func activate() throws { try thread.start() }

  func deactivate(timeout: Duration) {
    thread.stop()
    host.log(.info, "awaited=\(thread.counts.awaited)")
    host.log(.info, "resumed=\(thread.counts.resumed)")
  }

  func intercept(_ request: StageRequest, context: RequestContext) async throws {
    try await act(request, Dice(seed, context.path, context.attemptNumber, 1))
  }

  func intercept(_ response: StageResponse, context: ResponseContext) async throws {
    try await act(response.request, Dice(seed, context.path, context.attemptNumber, 2))
  }

  func interceptFailure(_ failure: Failure, of request: StageRequest, context: ResponseContext) async throws {
    try await act(request, Dice(seed, context.path, context.attemptNumber, 3))
  }

  private func act(_ request: StageRequest, _ dice: Dice) async throws {
    var dice = dice
    switch dice.draw(12) {
    case 0: await thread.turn()
    case 1: try await host.sleep(for: .microseconds(dice.draw(8000)))
    case 2:
      // Two child tasks run at the same time. If the transaction is cancelled in the meantime, the handle of its
      // request no longer works.
      async let other: Void = thread.turn()
      await thread.turn()
      await other
    case 3: await Task.yield()
    default: break
    }
    if dice.draw(4) == 0 { request.transactionData = Remembered() }
    switch dice.draw(40) {
    case 0: throw RetryRequestError(after: .microseconds(dice.draw(2000)))
    case 1: throw StageFailure(code: "chance", message: "by chance")
    case 2: request.respond(status: 203)
    default: break
    }
  }
}

private final class Remembered: Sendable {}

/// Gives the same numbers for the same request, attempt and place.
private struct Dice {
  private var state: UInt64

  init(_ seed: UInt64, _ path: String, _ attempt: Int, _ place: UInt64) {
    state = path.utf8.reduce(seed &+ place) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } &+ UInt64(attempt)
  }

  mutating func draw(_ count: UInt64) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return Int((mixed ^ mixed >> 31) % count)
  }
}

/// Resumes the waiting calls in order, even if their transactions are over.
private final class ResumingThread: Sendable {
  private struct State: Sendable {
    var waiting: [CheckedContinuation<Void, Never>] = []
    var isOver = false
    var awaited = 0
    var resumed = 0
  }

  private let state = Monitor(State())
  private let thread = Locked<BackgroundThread?>(nil)

  var counts: (awaited: Int, resumed: Int) { state.withLock { ($0.awaited, $0.resumed) } }

  func start() throws {
    let started = try BackgroundThread { [self] in run() }
    thread.withLock { $0 = started }
  }

  func stop() {
    state.withLock { $0.isOver = true }
    state.broadcast()
    thread.withLock { $0 }?.join()
  }

  /// Waits until the thread resumes this call.
  func turn() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if !state.isOver {
          state.waiting.append(continuation)
          state.awaited += 1
        }
        return state.isOver
      }
      if isOver { continuation.resume() } else { state.broadcast() }
    }
  }

  private func run() {
    while true {
      let waiting: [CheckedContinuation<Void, Never>] = state.wait { state in
        guard !state.waiting.isEmpty || state.isOver else { return nil }
        defer { state.waiting = [] }
        state.resumed += state.waiting.count
        return state.waiting
      }
      if waiting.isEmpty { return }
      for continuation in waiting { continuation.resume() }
    }
  }
}

@section(".sluice.requires.suspend") @used let requiresSuspend = true
@section(".sluice.requires.timers") @used let requiresTimers = true

/// The entry point. The host looks it up by its name.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(ChaosInSwift.self, host, abi, error)
}
