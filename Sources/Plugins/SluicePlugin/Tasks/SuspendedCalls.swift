import CSluice
import SluiceSupport

/// The suspended calls of an instance, found by their token when the host gives up a call.
final class SuspendedCalls: Sendable {
  private struct Key: Hashable {
    let slot: UInt32
    let generation: UInt32
    let nonce: UInt64

    init(_ token: sluice_token) {
      slot = token.slot
      generation = token.generation
      nonce = token.nonce
    }
  }

  private let tasks = Locked<[Key: CallTask]>([:])

  func insert(_ task: CallTask, _ token: sluice_token) {
    tasks.withLock { $0[Key(token)] = task }
  }

  @discardableResult
  func remove(_ token: sluice_token) -> CallTask? {
    tasks.withLock { $0.removeValue(forKey: Key(token)) }
  }
}
