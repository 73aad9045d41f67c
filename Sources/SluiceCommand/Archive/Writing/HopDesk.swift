import SluicePipeline
import SluiceSupport

/// Connects the two places at which a hop is seen, on one loop: the transport knows the bytes, and the events of the
/// transaction say whose they are. The transport calls the transaction, which reports its events before it returns.
///
/// Unchecked because it is confined to its loop.
final class HopDesk: @unchecked Sendable {
  /// The hop whose observer is being called.
  private(set) var current: HopTap?
  /// The hop that was issued last, until its head is reported.
  private var issued: HopTap?

  /// The observer of the hop is called from now on.
  /// - Returns: what ``leave(to:)`` takes when the call has returned.
  func enter(_ tap: HopTap) -> HopTap? {
    defer { current = tap }
    return current
  }

  func leave(to earlier: HopTap?) { current = earlier }

  /// The transport writes the head next, before it does anything else.
  func expectHead(of tap: HopTap) { issued = tap }

  /// Heads that no hop waits for are the rest of an earlier one, or for a proxy.
  func didSend(_ head: [UInt8]) {
    issued?.didSend(head)
    issued = nil
  }
}
