package import SluiceMessages
package import SluicePluginHost

/// What blocks an event loop: the call of a plugin if one is known, otherwise code of the program.
package struct LoopObstacle: Sendable, Hashable {
  /// The loop's index, from 0.
  package var loop: Int
  /// Whether the loop's thread has ended; then the loop never runs again. Code on it has called `pthread_exit`, or
  /// ``hasLostDescriptors`` is set.
  package var hasDied: Bool
  /// Whether code of the process has closed the loop's descriptors.
  package var hasLostDescriptors: Bool
  /// The minimum time for which the loop has been blocked.
  package var age: Duration
  /// Nil when no call of a plugin is under way on the loop.
  package var call: Call?

  /// A call of a plugin.
  package struct Call: Sendable, Hashable {
    /// The instance's name in the configuration.
    package var plugin: String
    /// The plugin's own id.
    package var pluginID: String
    /// The build, as ``EngineStatus/Generation/id``.
    package var generation: Int
    /// The function of the plugin, as the headers of the ABI name it.
    package var callback: String
    /// Nil when the call belongs to no transaction.
    package var transaction: TransactionID?

    package init(plugin: String, pluginID: String, generation: Int, callback: String, transaction: TransactionID?) {
      self.plugin = plugin
      self.pluginID = pluginID
      self.generation = generation
      self.callback = callback
      self.transaction = transaction
    }
  }

  package init(loop: Int, hasDied: Bool, hasLostDescriptors: Bool = false, age: Duration, call: Call?) {
    self.loop = loop
    self.hasDied = hasDied
    self.hasLostDescriptors = hasLostDescriptors
    self.age = age
    self.call = call
  }
}

extension LoopObstacle: CustomStringConvertible {
  package var description: String {
    let milliseconds = age.milliseconds
    if hasLostDescriptors {
      return "loop \(loop) has ended, because code of a plugin or of the program has closed the loop's descriptors"
    }
    guard let call else {
      return hasDied
        ? "the thread of loop \(loop) was ended with pthread_exit \(milliseconds) ms ago"
        : "loop \(loop) has not turned for \(milliseconds) ms and is not in a call of a plugin: look at completions, "
          + "delegates and stages of the program itself"
    }
    let name = call.plugin.isEmpty ? call.pluginID : call.plugin
    let place = "\(call.callback) of \"\(name)\" (\(call.pluginID), generation \(call.generation))"
    return hasDied
      ? "the thread of loop \(loop) was ended with pthread_exit in \(place), \(milliseconds) ms ago"
      : "loop \(loop) has been in \(place) for \(milliseconds) ms"
  }
}

extension LoopObstacle.Call {
  package init(_ call: LoopCall) {
    self.init(
      plugin: call.stage, pluginID: call.plugin, generation: call.generation, callback: call.callback,
      transaction: call.transaction)
  }
}
