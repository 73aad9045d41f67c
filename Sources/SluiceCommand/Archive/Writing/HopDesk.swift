import SluicePipeline
import SluiceSupport

/// Connects the two places on a loop that see a hop: the transport knows the bytes, and the events of the transaction
/// say which hop they belong to. The transport calls the transaction, which reports its events before that call
/// returns.
///
/// Unchecked because it is confined to its loop.
final class HopDesk: @unchecked Sendable {
  /// The hop whose observer is being called.
  private(set) var current: HopTap?
  /// The hop that was issued last, until its head is reported.
  private var issued: HopTap?

  /// Call it before each call of the hop's observer.
  /// - Returns: the value for ``leave(to:)``, to be called when the observer has returned.
  func enter(_ tap: HopTap) -> HopTap? {
    defer { current = tap }
    return current
  }

  func leave(to earlier: HopTap?) { current = earlier }

  /// Call it when the next thing that the transport does is to write the head.
  func expectHead(of tap: HopTap) { issued = tap }

  /// A head that no hop expects is the rest of an earlier head, or a head for a proxy.
  func didSend(_ head: [UInt8]) {
    issued?.didSend(head)
    issued = nil
  }
}
