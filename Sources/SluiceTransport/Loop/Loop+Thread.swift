import CLinux
import Glibc
import SluiceLocks
import SluicePipeline
import Synchronization

extension Loop {
  /// Ends the loop: transfers are cancelled, queued work runs, the thread is joined. From any thread but the loop's
  /// own; a second call waits for the first.
  public func shutdown() {
    thread.withLock { thread in
      guard let running = thread else { return }
      isStopping.store(true, ordering: .sequentiallyConsistent)
      poller.wake()
      pthread_join(running, nil)
      thread = nil
    }
  }

  func startThread() throws(TransportError) {
    let context = Unmanaged.passRetained(self).toOpaque()
    var identifier = pthread_t()
    let previous = SignalMask.blockAll()
    let result = pthread_create(
      &identifier, nil,
      { context in
        guard let context else { return nil }
        let loop = Unmanaged<Loop>.fromOpaque(context).takeRetainedValue()
        sluice_name_thread("sluice-loop-\(loop.index)")
        sluice_set_current_loop(context)
        loop.run()
        sluice_set_current_loop(nil)
        return nil
      }, context)
    previous.restore()
    guard result == 0 else {
      Unmanaged<Loop>.fromOpaque(context).release()
      throw TransportError(.resources, "event loop: no thread: \(SystemError.text(result))", isBeforeSending: true)
    }
    thread.withLock { $0 = identifier }
  }
}
