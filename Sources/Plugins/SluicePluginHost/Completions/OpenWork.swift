import SluiceMessages
import SluicePipeline

/// A call whose outcome is open: an offered notification, or scheduled work.
///
/// The work ends once: when the plugin completes it or declines it, at the deadline, or when the instance ends. All of
/// these go through ``CompletionTable``, where only the first one succeeds and calls ``end(_:)``.
final class OpenWork: LoopTimerTarget, @unchecked Sendable {
  // Sendable: `timer` is touched only on the loop; `token` is written before another thread gets the work.
  enum End: Sendable, Hashable {
    case outcome(WorkOutcome)
    /// The plugin declined the notification, which is passed on to the next plugin.
    case passed
    /// The instance ended, or the schedule was cancelled, before there was an outcome.
    case cutOff
  }

  private var token = CompletionToken(slot: 0, generation: 0, nonce: 0)
  private let loop: any EventLoop
  let deadline: Instant
  private let timer = LoopTimer()
  private weak var table: CompletionTable?
  private let onEnd: @Sendable (End) -> Void

  /// - Parameters:
  ///   - loop: the loop with the timer of the deadline.
  ///   - onEnd: called once, on the thread that ends the work.
  init(
    on loop: any EventLoop, until deadline: Instant, in table: CompletionTable, onEnd: @escaping @Sendable (End) -> Void
  ) {
    self.loop = loop
    self.deadline = deadline
    self.table = table
    self.onEnd = onEnd
  }

  /// Takes a token, starts the timer of the deadline, and returns the token; nil if the table is closed or full.
  func open() -> CompletionToken? {
    guard let table, let token = table.open(self) else { return nil }
    loop.post { [self] in if table.isOpen(token) { loop.arm(timer, at: deadline, for: self) } }
    return token
  }

  func adopt(_ token: CompletionToken) { self.token = token }

  /// Called by the code that has removed the work from the table.
  func end(_ end: End) {
    loop.post { [self] in loop.disarm(timer) }
    onEnd(end)
  }

  func timerDidFire(_ timer: LoopTimer) { table?.close(token, .outcome(.missedDeadline)) }
}
