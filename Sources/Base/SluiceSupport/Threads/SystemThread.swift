import Glibc

/// A thread of the operating system, for work that blocks or runs a loop. Such work must not use the threads of Swift's
/// pool.
///
/// Join or detach it exactly once.
package struct SystemThread: Sendable {
  /// Which signals the thread blocks.
  package enum Signals: Sendable {
    /// All signals except those for faults of the thread itself, such as SIGSEGV. The kernel delivers the blocked
    /// signals to other threads.
    case blocked
    /// The signals that the starting thread blocks. A program that the thread starts inherits them too.
    case inherited
  }

  /// The work that a thread does at its end, after it has released the body.
  typealias Rest = @Sendable () -> Void

  /// The least default size. The system's default is the soft limit `ulimit -s`, which can be too small.
  private static let leastDefaultStackBytes = 1 << 20

  private let identifier: pthread_t

  /// - Parameters:
  ///   - name: the kernel keeps its first 15 bytes; nil keeps the name of the starting thread.
  ///   - stackBytes: nil takes the system's default, but at least 1 MiB.
  ///   - isWatched: whether the thread calls the process's ``ThreadWatcher``.
  /// - Returns: nil, with `errno` set, if no thread can be started. Then the body never runs.
  package init?(
    _ name: String? = nil, signals: Signals = .blocked, stackBytes: Int? = nil, isWatched: Bool = true,
    _ body: @escaping @Sendable () -> Void
  ) {
    let thread = Self.make(name, signals, stackBytes, isWatched: isWatched) {
      body()
      return {}
    }
    guard let thread else { return nil }
    self = thread
  }

  /// Starts a thread whose body returns the remaining work. The body's captures are released before that work runs.
  static func make(
    _ name: String?, _ signals: Signals, _ stackBytes: Int?, isWatched: Bool = true,
    _ body: @escaping @Sendable () -> Rest
  ) -> SystemThread? {
    let work = Unmanaged.passRetained(Work(name, body))
    let mask = signals == .blocked ? SignalMask.blockAll() : nil
    defer { mask?.restore() }
    var identifier = pthread_t()
    let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? =
      isWatched
      ? { context in
        ThreadWatcher.current?.begin()
        return Work.run(context)
      } : { Work.run($0) }
    let status = withAttributes(stackBytes) { pthread_create(&identifier, $0, run, work.toOpaque()) }
    guard status == 0 else {
      work.release()
      errno = status
      return nil
    }
    return SystemThread(identifier: identifier)
  }

  private init(identifier: pthread_t) { self.identifier = identifier }

  /// Starts a detached thread.
  /// - Returns: false, with `errno` set, if no thread can be started. Then the body never runs.
  package static func start(
    _ name: String? = nil, signals: Signals = .blocked, stackBytes: Int? = nil, _ body: @escaping @Sendable () -> Void
  ) -> Bool {
    guard let thread = SystemThread(name, signals: signals, stackBytes: stackBytes, body) else { return false }
    thread.detach()
    return true
  }

  /// Blocks until the thread has ended.
  package func join() { pthread_join(identifier, nil) }

  /// Lets the thread end by itself, so that no thread must join it.
  package func detach() { pthread_detach(identifier) }

  private static func withAttributes(
    _ stackBytes: Int?, _ body: (UnsafePointer<pthread_attr_t>?) -> Int32
  ) -> Int32 {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    var size = 0
    pthread_attr_getstacksize(&attributes, &size)
    pthread_attr_setstacksize(&attributes, stackBytes ?? max(size, leastDefaultStackBytes))
    return body(&attributes)
  }

  private final class Work: Sendable {
    private let name: String?
    private let body: @Sendable () -> Rest

    init(_ name: String?, _ body: @escaping @Sendable () -> Rest) {
      self.name = name
      self.body = body
    }

    /// - Parameter context: the retained work. The thread takes over the reference.
    static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
      guard let context else { return nil }
      let rest = Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
      rest()
      return nil
    }

    private func run() -> Rest {
      if let name { SystemThread.setName(name) }
      return body()
    }
  }

  /// Names the calling thread. The kernel cuts the name after 15 bytes. If no descriptor is free, the old name stays.
  private static func setName(_ name: String) {
    // pthread_setname_np(3) is not used, because it is a GNU extension that Swift does not see.
    guard let file = FileDescriptor(opening: "/proc/thread-self/comm", O_WRONLY) else { return }
    _ = file.writeAll(Array(name.utf8))
  }
}

/// The signals that a thread blocks.
private struct SignalMask {
  private var mask: sigset_t

  /// Blocks all signals except the faults of the calling thread. A thread that starts now inherits the mask, so no
  /// signal reaches it. A fault whose signal is blocked would end the process without calling the handler, and so
  /// without a crash report.
  static func blockAll() -> SignalMask {
    var blocked = sigset_t()
    var previous = sigset_t()
    sigfillset(&blocked)
    for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&blocked, fault) }
    pthread_sigmask(SIG_SETMASK, &blocked, &previous)
    return SignalMask(mask: previous)
  }

  func restore() {
    var mask = mask
    pthread_sigmask(SIG_SETMASK, &mask, nil)
  }
}
