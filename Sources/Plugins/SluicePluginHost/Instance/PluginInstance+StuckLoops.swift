package import SluicePipeline

// Work of the plugin on a loop that is stuck.
extension PluginInstance {
  /// Ends work that is overdue, and moves work that any loop can do to other loops. Work that belongs to a transaction
  /// of the stuck loop stays there. Must not be called on the thread of that loop.
  package func leave(_ stuck: LoopEnvironment) {
    let now = runtime.now
    completions.closeOverdue(at: now)
    turns?.leave(stuck.loop.index)
    guard let other = runtime.nextLoop?.loop, other.index != stuck.loop.index else { return }
    for timer in timers.all { timer.leave(stuck.loop.index, for: other) }
    for call in callOuts.overdue(on: stuck.loop.index, at: now) {
      _ = runtime.post(to: other) { call.completeElsewhere() }
    }
  }
}
