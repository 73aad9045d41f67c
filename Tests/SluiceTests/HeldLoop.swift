import Sluice
import SluiceTestKit
import Testing

/// A loop of an engine that does nothing until it is released.
struct HeldLoop {
  private let isFree = Watched(false)

  /// - Parameter index: the index of the loop, from 0.
  init(_ engine: Engine, _ index: Int = 0) async throws {
    let executor = try #require(engine.executors.dropFirst(index).first)
    let (isFree, isHeld) = (isFree, Watched(false))
    Task(executorPreference: executor) {
      isHeld.update { $0 = true }
      // Longer than any wait for something that the loop blocks.
      isFree.waitBlocking(upTo: Patience.limit * 2) { $0 }
    }
    try await isHeld.wait(for: "a loop that is held") { $0 }
  }

  func letGo() { isFree.update { $0 = true } }
}
