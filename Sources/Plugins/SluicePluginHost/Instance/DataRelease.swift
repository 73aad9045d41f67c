import SluicePipeline
import SluiceSupport
import Synchronization

/// Calls the `release` function of `data_set` once, on the transaction's loop. If that loop has ended and drops posted
/// work, the function is called at once, which is safe because no other code refers to the data any more.
final class DataRelease: Sendable {
  private let data: UncheckedPointer
  private let release: InstanceRecord.Release
  private let instance: PluginInstance
  private let wasCalled = Atomic<Bool>(false)

  private init(_ data: UncheckedPointer, _ release: @escaping InstanceRecord.Release, _ instance: PluginInstance) {
    self.data = data
    self.release = release
    self.instance = instance
    // This count makes `destroy` wait until the data are released.
    instance.openWork.update { $0 += 1 }
  }

  deinit { call() }

  /// Calls `release` with the data on the loop: at once if this is the loop, otherwise later. Does nothing if there are
  /// no data or no function. Can be called from any thread.
  static func run(
    _ data: UncheckedPointer, _ release: InstanceRecord.Release?, of instance: PluginInstance, on loop: any EventLoop
  ) {
    guard data.address != nil, let release else { return }
    if loop.isCurrent { return call(data, release, instance) }
    let pending = DataRelease(data, release, instance)
    loop.post { pending.call() }
  }

  private func call() {
    guard !wasCalled.exchange(true, ordering: .relaxed) else { return }
    Self.call(data, release, instance)
    instance.openWork.update { $0 -= 1 }
  }

  private static func call(_ data: UncheckedPointer, _ release: InstanceRecord.Release, _ instance: PluginInstance) {
    instance.subject.call(.dataRelease) { release(data.address) }
  }
}
