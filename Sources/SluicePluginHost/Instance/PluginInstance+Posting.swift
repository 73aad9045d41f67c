import SluiceLocks
import CSluice
import SluicePipeline

// Functions that the plugin has run on a loop.
extension PluginInstance {
  typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Void

  /// Runs a function once on a loop; false where the host takes nothing new, and it is not run.
  func post(_ function: @escaping Function, _ context: UncheckedPointer, to loop: any EventLoop) -> Bool {
    // Counted before it is asked whether the instance is gone: whoever destroys it then waits for this.
    openWork.update { $0 += 1 }
    let isPosted = !isDestroyed && runtime.post(to: loop) { [self] in run(function, context) }
    if !isPosted { openWork.update { $0 -= 1 } }
    return isPosted
  }

  /// Calls the plugin outside of any exchange; it may enter those of this loop. [loop]
  func runPosted(_ body: () -> Void) { CallContext.runPosted(self, body) }

  private func run(_ function: Function, _ context: UncheckedPointer) {
    runPosted { function(context.address) }
    openWork.update { $0 -= 1 }
  }

  /// Runs a function once on the first loop, after a delay.
  func startTimer(
    after delay: Duration, _ function: @escaping Function, _ context: UncheckedPointer
  ) -> Result<UInt64, TimerSet.Refusal> {
    guard let loop = runtime.loops.first?.loop, !runtime.gate.isClosed else { return .failure(.closed) }
    let added = timers.add { id in
      PluginTimer(id: id, loop: loop, delay: delay) { [weak self] id in
        guard let self, timers.remove(id) != nil else { return }
        openWork.update { $0 += 1 }
        run(function, context)
      }
    }
    guard case .success(let timer) = added else { return added.map(\.id) }
    guard runtime.post(to: loop, { timer.start() }) else {
      _ = timers.remove(timer.id)
      return .failure(.closed)
    }
    return .success(timer.id)
  }

  /// True where it will not be called.
  func cancelTimer(_ id: UInt64) -> Bool { timers.remove(id)?.cancel() ?? false }
}

extension TimerSet.Refusal {
  var status: sluice_status { self == .tooMany ? Status.limit : Status.closing }
}
