import Glibc
import SluiceMessages
import SluicePluginHost
import SluiceSupport

/// Ends an interrupted process whose output takes no bytes. Without this, the process could block forever if nobody
/// reads or opens the other end of a pipe.
enum StuckOutput {
  private static let patience = Duration.seconds(5)

  /// Watches until the process ends, on a separate thread.
  ///
  /// - Parameters:
  ///   - grace: the time before the watch begins. From then on, an output is stuck if it takes no bytes for the
  ///     duration `patience`.
  ///   - signal: the signal that interrupted the process.
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
    // Writes the message only if that does not block, because standard error can be the same pipe.
    var ready = pollfd(fd: StandardError.descriptor, events: Int16(POLLOUT), revents: 0)
    if poll(&ready, 1, 0) == 1 {
      StandardError.say(
        "error: interrupted, but \(PlainText.path(name)) has accepted no bytes for \(patience.components.seconds) "
          + "seconds, so the rest of the output is lost; read the output, or write it to a file")
    }
    GivenFiles.removeAll()
    _exit(ExitStatus.interrupted(by: signal).code)
  }

  private static func pause(_ duration: Duration) {
    let never = Monitor(false)
    _ = never.wait(upTo: duration) { $0 ? () : nil }
  }
}
