import Glibc

/// When a program that was started accepts connections.
public enum Readiness {
  /// Connects again and again until somebody answers; false when the process ends or the limit passes first.
  public static func isListening(
    on port: UInt16, while process: RunningCommand, upTo limit: Duration = Patience.limit
  ) async -> Bool {
    await withCheckedContinuation { continuation in
      Threads.start { continuation.resume(returning: tryConnecting(to: port, while: process, upTo: limit)) }
    }
  }

  private static func tryConnecting(to port: UInt16, while process: RunningCommand, upTo limit: Duration) -> Bool {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline, !process.hasEnded {
      if (try? StreamSocket.connect(port: port)) != nil { return !process.hasEnded }
      // A refusal on loopback comes at once; the pause leaves the processor to the program that is starting.
      _ = poll(nil, 0, 2)
    }
    return false
  }
}
