import Dispatch

/// A gate that opens once and stays open, for threads and tasks alike.
package final class Signal: Sendable {
  private let isOpen = Watched(false)

  package init() {}

  package var isSet: Bool { isOpen.value }

  /// Opens the gate permanently.
  package func set() {
    isOpen.update { $0 = true }
  }

  /// Suspends until the signal is set; throws when the limit passes first.
  package func wait(upTo limit: Duration = Patience.limit, for what: String = "a signal") async throws {
    try await isOpen.wait(upTo: limit, for: what) { $0 }
  }

  /// Blocks the calling thread; false when the limit passes first.
  @discardableResult
  package func waitBlocking(upTo limit: Duration = Patience.limit) -> Bool {
    isOpen.waitBlocking(upTo: limit) { $0 } != nil
  }

  /// Blocks until either signal is set.
  func waitBlocking(or other: Signal) {
    let semaphore = DispatchSemaphore(value: 0)
    let mine = isOpen.watch({ $0 }, wake: { _ in semaphore.signal() })
    let others = other.isOpen.watch({ $0 }, wake: { _ in semaphore.signal() })
    semaphore.wait()
    isOpen.abandon(mine)
    other.isOpen.abandon(others)
  }
}
