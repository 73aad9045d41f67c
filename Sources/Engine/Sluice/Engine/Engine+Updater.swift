package import SluiceAssembly
package import SluiceJSON
package import SluiceMessages
import SluiceSupport

/// Keeps the plugins of an engine up to date. It is not a part of the engine.
package protocol EngineUpdater: SwapObserver {
  /// Handles the notification ``Engine/updateTopic``, which no plugin gets.
  func update(_ payload: JSONValue) async -> WorkOutcome

  /// The member about updates in the engine's status document.
  var statusDocument: JSONValue { get async }

  /// Called when the process was asked to end. The process can be killed before the engine has ended.
  func endIsNear() async

  /// Called when the engine ends. Must return only when the updater no longer uses the engine.
  func engineWillEnd() async
}

extension Engine {
  /// The topic of notifications that go to the updater.
  package static let updateTopic = "ota_update"

  /// Sets the updater. Must be called only once. The engine keeps the updater until the engine ends.
  package func setUpdater(_ updater: any EngineUpdater) {
    self.updater.withLock { $0 = updater }
    swaps.observer.withLock { $0 = updater }
  }

  /// Must be called when the program was asked to end and only waits for the requests in flight before it ends the
  /// engine. If the end takes long or the process is killed, neither the updater nor the record of a canary regards that
  /// as a fault of the plugins.
  package func endIsNear() {
    swaps.leaveRecords()
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
