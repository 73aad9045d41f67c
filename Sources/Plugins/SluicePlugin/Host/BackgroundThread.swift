import Glibc
import SluiceSupport

/// A thread of the plugin itself, for blocking work: files, sockets, a library that waits.
///
/// It blocks all signals, because a plugin must not handle the signals of the program. Their causes appear as errors
/// instead: a closed reader as EPIPE, a file beyond its size limit as EFBIG.
///
/// A program under `sluice attach` may fork while this thread holds a lock of the plugin or of Swift's runtime. In the
/// child the lock stays locked, and the plugin may wait for it forever. A fork waits for work on threads of the host
/// (``PluginHost/work(onBehalfOf:_:)``), but not for this thread.
public struct BackgroundThread: Sendable {
  private let thread: SystemThread

  /// Starts the thread. Allowed from `activate` on; the thread must be joined or detached. [any]
  public init(_ body: @escaping @Sendable () -> Void) throws(StageFailure) {
    try self.init(nil, isWatched: false, body)
  }

  /// Starts a thread that a fork may wait for.
  /// - Parameter isWatched: whether a fork waits for the thread, except while the thread waits in a `Monitor`.
  package init(_ name: String?, isWatched: Bool, _ body: @escaping @Sendable () -> Void) throws(StageFailure) {
    guard let thread = SystemThread(name, isWatched: isWatched, body) else {
      throw StageFailure(message: "cannot start a thread: \(String(cString: strerror(errno)))")
    }
    self.thread = thread
  }

  /// Waits for the thread's end. Call it only once.
  public func join() { thread.join() }

  /// Lets the thread end by itself; no code waits for it.
  public func detach() { thread.detach() }
}
