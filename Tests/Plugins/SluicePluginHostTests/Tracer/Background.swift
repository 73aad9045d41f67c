import SluiceSupport

@testable import SluicePluginHost

/// Runs work that blocks on a new thread.
final class Background: Sendable {
  private let isDone = Monitor(false)

  init(_ body: @escaping @Sendable () -> Void) {
    let isDone = self.isDone
    guard !SystemThread.start(body, then: { isDone.update { $0 = true } }) else { return }
    isDone.update { $0 = true }
  }

  func join() { isDone.wait { $0 ? () : nil } }
}
