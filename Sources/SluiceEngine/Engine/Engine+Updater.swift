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

  /// Called when the process was asked to end; it can be killed before the engine has ended.
  func endIsNear() async

  /// Called when the engine ends; returns when the updater no longer uses the engine.
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

  /// Call it when the program was asked to end and will end the engine after its requests. If that takes long, or if
  /// the process is killed before, that is not a fault of the plugins.
  package func endIsNear() {
    guard let updater = updater.withLock({ $0 }) else { return }
    Task.detached { await updater.endIsNear() }
  }

  /// The configuration that serves.
  package var currentConfiguration: Configuration { swaps.published.configuration }

  /// The updater's member of the status; nil without an updater.
  package var updateStatus: JSONValue? {
    get async { await updater.withLock { $0 }?.statusDocument }
  }
}
