import SluiceSupport

/// A thread that starts jobs at their time, while the reader waits for input. It is needed only if each host has a
/// rate, or if the run has a rate and each host has a limit of requests in flight (``RunSettings/hasStarter``).
struct RunStarter {
  private let thread: SystemThread

  /// - Parameter interval: the time between two starts of the whole run; nil means no limit.
  init(interval: Duration?, _ session: RunSession) throws(CommandError) {
    thread = try SystemThread.begin("sluice-pace") {
      var pace = interval.map { RunPace(interval: $0) }
      while session.startNext(&pace) {}
    }
  }

  /// Waits until the session has no more jobs to start.
  func wait() { thread.join() }
}
