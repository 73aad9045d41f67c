import Glibc
import SluiceSupport

/// When a program that was started is ready to serve.
package enum Readiness {
  /// Looks again and again until the program has written a file, as servers do with their process id when every port is
  /// theirs; false when the process ends or the limit passes first.
  ///
  /// To connect would prove less: where a port is taken, it is somebody else who answers.
  package static func hasWritten(
    _ path: String, by process: RunningCommand, upTo limit: Duration = Patience.limit
  ) async -> Bool {
    await Handover.wait { answer in
      Threads.start { answer.give(looksForFile(path, by: process, upTo: limit)) }
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
