package import SluiceAssembly
package import SluiceJSON
package import SluiceMessages
import SluiceSupport

/// Keeps the plugins of an engine current, from outside of the engine.
package protocol EngineUpdater: SwapObserver {
  /// The notification ``Engine/updateTopic``, which no plugin sees.
  func update(_ payload: JSONValue) async -> WorkOutcome

  /// A member of the engine's status.
  var statusDocument: JSONValue { get async }

  /// The process was asked to end. It may be killed before the engine has ended.
  func endIsNear() async

  /// The engine ends. Returns when the updater no longer uses it.
  func engineWillEnd() async
}

extension Engine {
  /// The topic of notifications that go to the updater.
  package static let updateTopic = "ota_update"

  /// Sets the updater, once; the engine keeps it until its end.
  package func setUpdater(_ updater: any EngineUpdater) {
    self.updater.withLock { $0 = updater }
    swaps.observer.withLock { $0 = updater }
  }

  /// The program was asked to end, and will end the engine when its requests are finished. How long that takes, and
  /// whether somebody loses patience, says nothing of the plugins.
  package func endIsNear() {
    guard let updater = updater.withLock({ $0 }) else { return }
    Task.detached { await updater.endIsNear() }
  }

  /// The configuration that serves.
  package var currentConfiguration: Configuration { swaps.published.configuration }

  /// What the updater says of itself; nil without one.
  package var updateStatus: JSONValue? {
    get async { await updater.withLock { $0 }?.statusDocument }
  }
}
