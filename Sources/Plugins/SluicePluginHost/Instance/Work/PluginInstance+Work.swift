import CSluice
import SluicePipeline
import SluiceSupport

// Functions of the plugin on threads of the host.
extension PluginInstance {
  /// [any]
  func startWork(_ order: PluginWork.Order) -> sluice_status {
    var loop = (runtime.currentLoop ?? runtime.nextLoop)?.loop
    if let parent = order.parent {
      guard let environment = environment(of: parent), environment.suspensions.isSuspended(parent) else {
        return Status.stale
      }
      loop = environment.loop
    }
    // The work is counted before it is added to the set. If another thread closes the set at the same time, that thread
    // then either waits for this work, or has closed the set before `add`, which fails.
    openWork.update { $0 += 1 }
    let status = submit(order, on: loop)
    if status != Status.ok { openWork.update { $0 -= 1 } }
    return status
  }

  private func submit(_ order: PluginWork.Order, on loop: (any EventLoop)?) -> sluice_status {
    switch work.add({ PluginWork($0, order, of: self, on: loop) }) {
    case .failure(.closed): return Status.closing
    case .failure(.tooMany):
      hostHandle.reportLimit("\(WorkSet.limit) of its functions wait for a thread or run on one")
      return Status.limit
    case .success(let work):
      if runtime.work.submit(
        BlockingPool.Job {
          work.run()
        } threadEnded: {
          work.threadEnded()
        })
      {
        return Status.ok
      }
      // If `drop` finds the work, it will never run. If it does not, other code has dropped the work and calls its
      // completion, so `run` must return OK.
      return self.work.drop(work.id) ? Status.closing : Status.ok
    }
  }

  /// Drops the work of a suspended exchange, which no longer waits for it.
  func dropWork(for parent: SuspensionToken) {
    for work in work.drop(for: parent) { work.complete(Status.stale) }
  }

  /// Accepts no further functions, and drops those that have not begun.
  func closeWork() {
    for work in work.close() { work.complete(Status.closing) }
  }
}
