import CSluice
import SluicePipeline
import SluiceSupport

/// A function that a plugin runs on the pool, from `run` to the return of its completion.
///
///     run ─► waiting ── a thread takes it ──► running ── returns ──► completion, once
///               └────── parent or instance ends ──────────────────────▲
///
/// ``WorkSet`` decides whether the thread or the end of the parent or instance comes first. Unchecked: the pointer
/// belongs to the plugin, and is only passed back.
final class PluginWork: @unchecked Sendable {
  typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Void
  typealias Completion = @convention(c) (UnsafeMutableRawPointer?, sluice_status) -> Void

  /// What the plugin passed to `run`.
  struct Order: @unchecked Sendable {
    var parent: SuspensionToken?
    var function: Function
    var completion: Completion
    var context: UncheckedPointer
  }

  let id: UInt64
  let order: Order
  private let instance: PluginInstance
  /// The loop on which the completion is called; nil in a host without loops.
  private let loop: (any EventLoop)?

  init(_ id: UInt64, _ order: Order, of instance: PluginInstance, on loop: (any EventLoop)?) {
    self.id = id
    self.order = order
    self.instance = instance
    self.loop = loop
  }

  /// Runs on a thread of the pool.
  func run() {
    guard instance.work.begin(id) else { return }
    instance.subject.call(.work) { order.function(order.context.address) }
    end(Status.ok)
  }

  /// Called if the plugin ends the thread with `pthread_exit`, while the thread is ending.
  func threadEnded() {
    instance.hostHandle.log(.error, "has ended a thread of the host with pthread_exit")
    end(Status.failed)
  }

  private func end(_ status: sluice_status) {
    instance.work.remove(id)
    complete(status)
  }

  /// Called by the code that has removed the work from the set.
  func complete(_ status: sluice_status) {
    let call: @Sendable () -> Void = { [self] in
      instance.runPosted { order.completion(order.context.address, status) }
      instance.openWork.update { $0 -= 1 }
    }
    if let loop, instance.runtime.post(to: loop, call) { return }
    // The loops have ended or are about to end. The plugin must still get its completion, so it is called here.
    call()
  }
}
