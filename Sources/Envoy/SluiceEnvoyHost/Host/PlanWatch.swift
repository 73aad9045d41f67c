import CLinux
import Glibc
import SluiceMessages
import SluiceSupport

/// Watches a plan folder on a thread of its own.
final class PlanWatch: Sendable {
  private let notifier: CInt
  private let stopper: CInt
  private let thread = Locked<SystemThread?>(nil)

  init(_ folder: String) throws(EnvoyRefusal) {
    notifier = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
    stopper = eventfd(0, CInt(EFD_CLOEXEC))
    let mask = UInt32(IN_MOVED_TO | IN_CREATE | IN_CLOSE_WRITE | IN_ATTRIB | IN_ONLYDIR)
    guard notifier >= 0, stopper >= 0, inotify_add_watch(notifier, folder, mask) >= 0 else {
      let reason = SystemError.text()
      close(notifier)
      close(stopper)
      throw EnvoyRefusal("\(PlainText.path(folder)) cannot be watched: \(reason)")
    }
  }

  deinit {
    close(notifier)
    close(stopper)
  }

  /// - Parameter onChange: called on the thread after changes.
  func start(_ onChange: @escaping @Sendable () -> Void) {
    let thread = SystemThread("sluice-envoy") { [notifier, stopper] in
      while Self.wait(notifier, stopper) { onChange() }
    }
    if thread == nil { EnvoyLog.write(.error, "no thread could be started, so new plans are not seen") }
    self.thread.withLock { $0 = thread }
  }

  /// Ends the thread and waits for it.
  func stop() {
    var one: UInt64 = 1
    _ = write(stopper, &one, MemoryLayout<UInt64>.size)
    thread.withLock { $0.take() }?.join()
  }

  /// Waits for changes. Returns false when the watch is stopped.
  private static func wait(_ notifier: CInt, _ stopper: CInt) -> Bool {
    var polled = [
      pollfd(fd: notifier, events: Int16(POLLIN), revents: 0), pollfd(fd: stopper, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&polled, 2, -1) >= 0 || errno == EINTR, polled[1].revents == 0 else { return false }
    var buffer = [UInt8](repeating: 0, count: 4096)
    while read(notifier, &buffer, buffer.count) > 0 {}
    return true
  }
}
