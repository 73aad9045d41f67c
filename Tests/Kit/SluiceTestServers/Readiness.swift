import Glibc
import SluiceSupport
package import SluiceTestKit

/// Waits until a started program is ready to serve.
package enum Readiness {
  /// Polls until the program has written a file, as servers do with their process id when they listen on all their
  /// ports. Returns false if the process ends or the limit passes first.
  ///
  /// A successful connection would prove less, because another program could use the port and answer.
  package static func hasWritten(
    _ path: String, by process: RunningCommand, upTo limit: Duration = Patience.limit
  ) async -> Bool {
    await Handover.wait { answer in
      Threads.start { answer.give(looksForFile(path, by: process, upTo: limit)) }
    }
  }

  /// Polls until something accepts connections on a port of 127.0.0.1, for programs that write no file. Returns false if
  /// the process ends or the limit passes first.
  static func accepts(
    onPort port: UInt16, _ process: RunningCommand, upTo limit: Duration = Patience.limit
  ) async -> Bool {
    await Handover.wait { answer in
      Threads.start {
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline, !process.hasEnded {
          if (try? RawClient(port: port)) != nil { return answer.give(true) }
          // The pause leaves the processor to the program that is starting.
          _ = poll(nil, 0, 2)
        }
        answer.give(false)
      }
    }
  }

  private static func looksForFile(_ path: String, by process: RunningCommand, upTo limit: Duration) -> Bool {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline, !process.hasEnded {
      if let text = try? FileTree.readText(path), text.hasSuffix("\n") { return true }
      // The pause leaves the processor to the program that is starting.
      _ = poll(nil, 0, 2)
    }
    return false
  }
}
