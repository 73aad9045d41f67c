import Glibc
import SluiceMessages
import SluicePluginHost
import SluiceSupport

/// Ends an interrupted process whose output takes no bytes: a pipe that nobody reads or opens can block for ever.
enum StuckOutput {
  private static let patience = Duration.seconds(5)

  /// Watches until the process ends, on a thread of its own.
  ///
  /// - Parameters:
  ///   - grace: the time before an output counts as stuck, besides the patience.
  ///   - signal: what has interrupted the process.
  static func watch(after grace: Duration, _ signal: Int32) {
    let thread = try? SystemThread.begin("sluice-stuck") {
      pause(grace)
      var earlier = ByteOutput.waiting
      while true {
        pause(patience)
        let now = ByteOutput.waiting
        if let stuck = now.first(where: { earlier.contains($0) }) { end(stuck.name, signal) }
        earlier = now
      }
    }
    thread?.detach()
  }

  private static func end(_ name: String, _ signal: Int32) -> Never {
    // Standard error may be the same pipe.
    var ready = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    if poll(&ready, 1, 0) == 1 {
      StandardError.say(
        "error: interrupted, but \(PlainText.path(name)) has taken no bytes for \(patience.components.seconds) seconds, "
          + "and what was not written is lost: nobody reads it; read it, or name a file")
    }
    GivenFiles.removeAll()
    _exit(ExitStatus.interrupted(by: signal).code)
  }

  private static func pause(_ duration: Duration) {
    let never = Monitor(false)
    _ = never.wait(upTo: duration) { $0 ? () : nil }
  }
}
