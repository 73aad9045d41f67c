import CLinux
import SluiceMessages
public import SluicePipeline
import SluiceSupport
import Synchronization

/// An event loop without a thread of its own. A thread of the program runs it: for example one that already waits in
/// GLib, libuv or an epoll set of its own.
///
///     let loop = try HostedLoop()
///     let engine = try Engine(configuration, on: loop)
///     var waited = pollfd(fd: loop.descriptor, events: Int16(POLLIN), revents: 0)
///     repeat { poll(&waited, 1, -1) } while try loop.turn()
///
/// The descriptor is readable when the loop has something to do: a socket is ready, a timer is due, or another thread
/// has posted work. Wait for it level-triggered, and call ``turn()`` when it is readable. A turn at another time does
/// no harm.
///
/// One thread at a time runs the loop: the first that calls ``turn()``, until it calls ``handOver()``. This thread must
/// call ``handOver()`` or ``close(within:)`` before it ends; otherwise no other thread can take the loop.
public final class HostedLoop: Sendable {
  /// Runs transactions, posted work, timers and tasks, all inside ``turn()``.
  package let loop: Loop
  private let hosting: LoopHosting

  /// - Throws: ``TransportError`` with the code `resources` if no descriptor is left.
  public convenience init() throws(TransportError) { try self.init(index: 0) }

  /// - Parameter index: the loop's index within its engine.
  package init(index: Int) throws(TransportError) {
    hosting = LoopHosting()
    loop = try Loop(index: index, hosting: hosting)
  }

  /// An epoll descriptor. Use the descriptor only to wait for it. The descriptor is closed when the loop is released.
  public var descriptor: Int32 { loop.poller.descriptor }

  /// Runs what is ready, without waiting. This includes callbacks of sockets, timers that are due, posted work, steps
  /// of tasks, and stages. If none of them blocks, the call returns soon.
  ///
  /// - Returns: false when the loop has ended. Do not wait for the descriptor after that.
  /// - Throws: ``TransportError`` with the code `wrong_thread` if another thread has the loop, or if the caller is
  ///   itself called by a loop. In both cases nothing has run.
  public func turn() throws(TransportError) -> Bool {
    try checkIsOutside("turn")
    guard hosting.claim() else {
      // A thread that is ending the loop owns the loop during that time.
      if loop.isStopping.load(ordering: .acquiring) { return loop.life.withLock { $0 == .running } }
      throw misuse("turn", "thread \(hosting.ownerID ?? 0) has the loop, and must call handOver() first")
    }
    return loop.hostedTurn()
  }

  /// Lets another thread call ``turn()``. Only the thread that has the loop may call this, between two turns.
  ///
  /// - Throws: ``TransportError`` with the code `wrong_thread` on any other thread or inside a turn. A call that throws
  ///   changes nothing.
  public func handOver() throws(TransportError) {
    try checkIsOutside("handOver")
    guard hosting.release() else {
      throw misuse("handOver", hosting.ownerID.map { "thread \($0) has the loop" } ?? "no thread has the loop")
    }
  }

  /// Ends the loop: transfers are cancelled, and posted work runs. If the calling thread has the loop, or no thread has
  /// it, this call ends the loop. Otherwise the thread that has the loop ends it in its next turn.
  ///
  /// - Parameter limit: the time limit for the end. Posted work that has not begun by then is dropped. A call that does
  ///   not return is not interrupted.
  /// - Returns: false when another thread has the loop and did not call ``turn()`` in time. Its next turn ends the
  ///   loop.
  /// - Throws: ``TransportError`` with the code `wrong_thread` inside of a turn.
  @discardableResult
  public func close(within limit: Duration = .seconds(5)) throws(TransportError) -> Bool {
    try checkIsOutside("close")
    return loop.shutdown(within: limit)
  }

  /// Code that a loop calls must not run a loop: the two loops would delay each other.
  private func checkIsOutside(_ function: String) throws(TransportError) {
    guard sluice_current_loop() != nil else { return }
    throw misuse(function, "the caller is itself called by an event loop")
  }

  private func misuse(_ function: String, _ reason: String) -> TransportError {
    let caller = UInt32(truncatingIfNeeded: sluice_thread_identity())
    return TransportError(
      .wrongThread, "event loop \(loop.index): \(function)() was called on thread \(caller): \(reason)",
      isBeforeSending: true)
  }
}
