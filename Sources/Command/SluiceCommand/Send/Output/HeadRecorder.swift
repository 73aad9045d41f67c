import Sluice
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Keeps the head of the last response of each transaction until its hop ends, for `-i` and `-D`.
final class HeadRecorder: Sendable {
  private let heads = Locked<[TransactionID: [UInt8]]>([:])

  func append(to configuration: inout Configuration) {
    configuration.addStage("send --include", StageCode(isTrusted: true) { [self] in record($0) })
  }

  /// Returns the head and forgets it; nil if the hop got no response.
  func take(_ id: TransactionID) -> [UInt8]? { heads.withLock { $0.removeValue(forKey: id) } }

  private func record(_ event: TraceEvent) {
    // If a stage waits for the whole body of a hop, the event with the head comes only at the end of the hop.
    guard event.kind == .didReceive, let response = event.exchange.responseForms.native else { return }
    let (id, head) = (event.exchange.id, HeadText.of(response))
    heads.withLock { $0[id] = head }
  }
}
