import Dispatch

/// Runs actions later, all on one thread.
enum Delay {
  private static let queue = DispatchQueue(label: "sluice.server.delays")

  static func run(after duration: Duration, _ action: @escaping @Sendable () -> Void) {
    let (seconds, attoseconds) = duration.components
    let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: action)
  }
}
