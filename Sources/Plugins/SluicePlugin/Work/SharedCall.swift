import SluiceSupport
import Synchronization

/// Runs an operation once for all callers that want its result at the same time, such as the requests that need a token
/// while it is being fetched.
///
///     login = SharedCall(host)  // in init
///
///     let token = try await login.value { try await fetchToken() }
///
/// A call that comes while the operation runs gets the result of that run, also if it is an error. A call that comes
/// later starts the operation again: keep the result yourself for as long as it is valid. The operation is a task of the
/// instance (``PluginHost/task(_:)``) and belongs to no caller, so it continues if the request that has started it ends.
///
/// Can be used from any thread, but not by the operation itself, which would wait for its own end.
public final class SharedCall<Value: Sendable>: Sendable {
  private final class Run: Sendable {
    let isOver = Atomic<Bool>(false)
  }

  private let host: PluginHost
  private let current = Locked<(run: Run, task: Task<Value, any Error>)?>(nil)

  /// Starts nothing, so it can be called in `init`.
  public init(_ host: PluginHost) { self.host = host }

  /// The run of the operation that has not ended; nil if there is none.
  public var running: Task<Value, any Error>? {
    current.withLock { current in
      if current?.run.isOver.load(ordering: .acquiring) == true { current = nil }
      return current?.task
    }
  }

  /// Returns the result of the running operation. If none runs, starts the operation and returns its result.
  /// - Throws: the error of the operation, for every caller that has waited for it.
  public func value(_ operation: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try await start(operation).value
  }

  /// Returns the running operation. If none runs, starts the operation.
  public func start(_ operation: @escaping @Sendable () async throws -> Value) -> Task<Value, any Error> {
    current.withLock { current in
      if let current, !current.run.isOver.load(ordering: .acquiring) { return current.task }
      // The task takes no lock, because a host that is ending may run it here, on this thread.
      let run = Run()
      let task = host.task {
        defer { run.isOver.store(true, ordering: .releasing) }
        return try await operation()
      }
      current = (run, task)
      return task
    }
  }
}
