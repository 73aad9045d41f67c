import CSluice
import SluicePipeline
import SluiceSupport

// Functions of the plugin that run on a loop.
extension PluginInstance {
  typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Void

  /// Runs a function once on a loop. If the host accepts no more work, returns false and does not run the function.
  func post(_ function: @escaping Function, _ context: UncheckedPointer, to loop: any EventLoop) -> Bool {
    // First count the job, then read `isDestroyed`: a thread that destroys the instance in between waits for the job.
    openWork.update { $0 += 1 }
    let isPosted = !isDestroyed && runtime.post(to: loop) { [self] in run(function, context) }
    if !isPosted { openWork.update { $0 -= 1 } }
    return isPosted
  }

  /// Calls the plugin outside of any exchange. In the body, the plugin can enter the exchanges of this loop. [loop]
  func runPosted(_ body: () -> Void) { CallContext.runPosted(self, body) }

  private func run(_ function: Function, _ context: UncheckedPointer) {
    runPosted { function(context.address) }
    openWork.update { $0 -= 1 }
  }

  /// Runs a function once after a delay. If the caller runs on a loop, the function runs on the same loop, so that it
  /// can enter the loop's suspended exchanges. Otherwise it runs on any loop.
  func startTimer(
    after delay: Duration, _ function: @escaping Function, _ context: UncheckedPointer
  ) -> Result<UInt64, TimerSet.Refusal> {
    guard !runtime.gate.isClosed, let loop = runtime.timerLoop else { return .failure(.closed) }
    let isForAnyLoop = !loop.isCurrent
    let added = timers.add { id in
      PluginTimer(id: id, loop: loop, isForAnyLoop: isForAnyLoop, delay: delay) { [weak self] in
        self?.timerFired($0, function, context)
      }
    }
    guard case .success(let timer) = added else { return added.map(\.id) }
    guard runtime.post(to: loop, { timer.start() }) else {
      _ = timers.remove(timer.id)
      return .failure(.closed)
    }
    return .success(timer.id)
  }

  private func timerFired(_ id: UInt64, _ function: @escaping Function, _ context: UncheckedPointer) {
    guard timers.begin(id) else { return }
    CallContext.runPosted(self) { function(context.address) }
    timers.end()
  }

  /// Cancels a timer. Returns true if its function will not be called.
  func cancelTimer(_ id: UInt64) -> Bool { timers.remove(id)?.cancel() ?? false }
}

extension TimerSet.Refusal {
  var status: sluice_status { self == .tooMany ? Status.limit : Status.closing }
}
