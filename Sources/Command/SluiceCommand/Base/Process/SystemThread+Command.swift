import Glibc
import SluiceSupport

extension SystemThread {
  /// Starts a thread of the command. The caller must join or detach it.
  static func begin(
    _ name: String, _ body: @escaping @Sendable () -> Void
  ) throws(CommandError) -> SystemThread {
    guard let thread = SystemThread(name, signals: .inherited, body) else {
      throw CommandError(.failed, "cannot start a thread: \(String(cString: strerror(errno)))")
    }
    return thread
  }
}
