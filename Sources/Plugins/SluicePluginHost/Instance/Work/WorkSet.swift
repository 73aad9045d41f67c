import SluicePipeline
import SluiceSupport

/// The functions of an instance that wait for a thread of the pool, or run on one.
final class WorkSet: Sendable {
  /// The maximum number of functions that wait or run.
  static let limit = 256

  private struct State: Sendable {
    var waiting: [UInt64: PluginWork] = [:]
    var running: Set<UInt64> = []
    var last: UInt64 = 0
    var isClosed = false
  }

  private let state = Locked(State())

  enum Refusal: Error, Equatable { case closed, tooMany }

  func add(_ make: (UInt64) -> PluginWork) -> Result<PluginWork, Refusal> {
    state.withLock { state in
      if state.isClosed { return .failure(.closed) }
      guard state.waiting.count + state.running.count < Self.limit else { return .failure(.tooMany) }
      state.last += 1
      let work = make(state.last)
      state.waiting[work.id] = work
      return .success(work)
    }
  }

  /// Called when a thread is about to run the work. Returns false if the work was dropped before.
  func begin(_ id: UInt64) -> Bool {
    state.withLock { state in
      guard state.waiting.removeValue(forKey: id) != nil else { return false }
      state.running.insert(id)
      return true
    }
  }

  /// Removes work that has run.
  func remove(_ id: UInt64) { state.withLock { _ = $0.running.remove(id) } }

  /// Removes work that has not begun. Returns false if it has begun, or was already dropped.
  func drop(_ id: UInt64) -> Bool { state.withLock { $0.waiting.removeValue(forKey: id) != nil } }

  /// Removes and returns the work that has not begun and for which a suspended exchange waits.
  func drop(for parent: SuspensionToken) -> [PluginWork] {
    state.withLock { state in
      guard !state.waiting.isEmpty else { return [] }
      let dropped = state.waiting.values.filter { $0.order.parent == parent }
      for work in dropped { state.waiting[work.id] = nil }
      return dropped
    }
  }

  /// Removes and returns all work that has not begun, in its order, and accepts no more.
  func close() -> [PluginWork] {
    state.withLock { state in
      state.isClosed = true
      defer { state.waiting = [:] }
      return state.waiting.values.sorted { $0.id < $1.id }
    }
  }
}
