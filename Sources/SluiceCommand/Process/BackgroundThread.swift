import CLinux
import Glibc

/// A thread of the command's own.
final class BackgroundThread: Sendable {
  private final class Work: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  private let thread: pthread_t

  /// - Parameter name: at most 15 bytes are shown.
  init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(CommandError) {
    let work = Unmanaged.passRetained(Work(name, body))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
        sluice_name_thread(work.name)
        work.body()
        return nil
      }, work.toOpaque())
    guard status == 0 else {
      work.release()
      throw CommandError(.failed, "cannot start a thread: \(String(cString: strerror(status)))")
    }
    self.thread = thread
  }

  /// Waits for its end; once.
  func join() { pthread_join(thread, nil) }

  func detach() { pthread_detach(thread) }
}
