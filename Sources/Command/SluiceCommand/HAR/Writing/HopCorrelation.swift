import SluicePipeline
import SluiceSupport

/// Connects the two places on a loop that see a hop. The transport knows the bytes, and the events of the transaction
/// tell to which hop the bytes belong. The transport calls the transaction, and the transaction reports its events
/// before this call returns.
///
/// Unchecked because it is confined to its loop.
final class HopCorrelation: @unchecked Sendable {
  /// The hop whose observer is being called.
  private(set) var current: ArchiveHopRecorder?
  /// The hop that was issued last, until its head is reported.
  private var issued: ArchiveHopRecorder?

  /// Must be called before each call of the hop's observer.
  /// - Returns: the argument for ``leave(to:)``, which must be called when the observer has returned.
  func enter(_ recorder: ArchiveHopRecorder) -> ArchiveHopRecorder? {
    defer { current = recorder }
    return current
  }

  func leave(to earlier: ArchiveHopRecorder?) { current = earlier }

  /// Must be called directly before the transport writes the head of this hop.
  func expectHead(of recorder: ArchiveHopRecorder) { issued = recorder }

  /// A head that no hop expects is dropped: it is a later part of an earlier head, or a head for a proxy.
  func didSend(_ head: [UInt8]) {
    issued?.didSend(head)
    issued = nil
  }
}
