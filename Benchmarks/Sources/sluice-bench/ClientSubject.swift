import CBareLoop
import Dispatch
import Sluice
import SluiceClient
import Synchronization

/// Tasks that each make one call after the other, as a program with asynchronous functions does.
final class ClientSubject: BenchmarkSubject, Sendable {
  /// The function that a task calls.
  enum Call {
    /// `Client.data`.
    case client
    /// `Engine.transaction`, which the client itself calls.
    case engine
  }

  let name: String
  private let client: Client
  private let request: Request
  private let call: Call
  private let connections: Int
  private let executor: (any TaskExecutor)?

  /// - Parameter isOnLoop: whether the tasks prefer the loop of the engine to Swift's pool.
  init(_ name: String, _ plan: Plan, _ call: Call, isOnLoop: Bool) throws {
    self.name = name
    self.call = call
    let pipeline = try BenchmarkPipeline.empty(plan)
    let engine = try Engine(EngineSubject.configuration(of: pipeline, plan))
    client = Client(engine: engine)
    request = try EngineSubject.request(of: pipeline, plan)
    connections = plan.connections
    executor = isOnLoop ? engine.executors[0] : nil
  }

  func run(requests: Int) -> Int {
    let progress = Progress(tasks: connections)
    for index in 0..<connections {
      let share = requests / connections + (index < requests % connections ? 1 : 0)
      Task.detached(executorPreference: executor) { [self] in progress.finish(failed: await make(share)) }
    }
    return progress.wait()
  }

  /// Returns how many of the calls failed.
  private func make(_ count: Int) async -> Int {
    var failed = 0
    for _ in 0..<count {
      switch call {
      case .client: if (try? await client.data(for: request))?.response.status != 200 { failed += 1 }
      case .engine: if await client.engine.transaction(request).response?.status != 200 { failed += 1 }
      }
    }
    return failed
  }

  /// Waits until all tasks have ended. Blocks the calling thread, which must not belong to Swift's pool.
  private final class Progress: Sendable {
    private let running: Atomic<Int>
    private let failed = Atomic(0)
    private let done = DispatchSemaphore(value: 0)

    init(tasks: Int) { running = Atomic(tasks) }

    func finish(failed count: Int) {
      failed.add(count, ordering: .relaxed)
      if running.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.signal() }
    }

    func wait() -> Int {
      done.wait()
      return failed.load(ordering: .relaxed)
    }
  }
}
