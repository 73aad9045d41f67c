import Sluice
import SluiceTestKit
import Testing

/// Blocks a loop of an engine until ``letGo()`` is called.
struct HeldLoop {
  private let isFree = Watched(false)

  /// - Parameter index: the index of the loop, from 0.
  init(_ engine: Engine, _ index: Int = 0) async throws {
    let executor = try #require(engine.executors.dropFirst(index).first)
    let (isFree, isHeld) = (isFree, Watched(false))
    Task(executorPreference: executor) {
      isHeld.update { $0 = true }
      // A test can wait for work that this loop blocks. This limit is longer than any such wait.
      isFree.waitBlocking(upTo: Patience.limit * 2) { $0 }
    }
    try await isHeld.wait(for: "the loop to be blocked") { $0 }
  }

  func letGo() { isFree.update { $0 = true } }
}
