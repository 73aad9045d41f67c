import Dispatch

/// A gate that opens once and stays open. Both threads and tasks can wait for it.
package final class Signal: Sendable {
  private let isOpen = Watched(false)

  package init() {}

  package var isSet: Bool { isOpen.value }

  /// Opens the gate permanently.
  package func set() {
    isOpen.update { $0 = true }
  }

  /// Suspends until the signal is set. Throws if the limit passes first.
  package func wait(upTo limit: Duration = Patience.limit, for what: String = "a signal") async throws {
    try await isOpen.wait(upTo: limit, for: what) { $0 }
  }

  /// Blocks the calling thread until the signal is set. Returns false if the limit passes first.
  @discardableResult
  package func waitBlocking(upTo limit: Duration = Patience.limit) -> Bool {
    isOpen.waitBlocking(upTo: limit) { $0 } != nil
  }

  /// Blocks until either signal is set.
  package func waitBlocking(or other: Signal) {
    let semaphore = DispatchSemaphore(value: 0)
    let mine = isOpen.watch({ $0 }, wake: { _ in semaphore.signal() })
    let others = other.isOpen.watch({ $0 }, wake: { _ in semaphore.signal() })
    semaphore.wait()
    isOpen.abandon(mine)
    other.isOpen.abandon(others)
  }
}
