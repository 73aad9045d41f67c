import SluiceMessages
import SluicePipeline

/// Collects a body that comes piece by piece.
final class StreamedBodyGatherer: BodyGatherer {
  var whenReady: (() -> Void)?
  private let loop: any EventLoop
  private var collector: BodyCollector
  private let limit: Int
  private let excess: TransportError
  private var byteCount = 0

  init(_ loop: any EventLoop, _ options: TransferOptions, limit: Int, excess: TransportError) {
    self.loop = loop
    collector = BodyCollector(spillBytes: options.spillBytes, expectedBytes: 0)
    self.limit = limit
    self.excess = excess
  }

  func append(_ piece: [UInt8]) throws(TransportError) -> BodyProgress {
    byteCount += piece.count
    guard byteCount <= limit else { throw excess }
    return try collector.append(piece) {
      SpilledBody(on: loop) { [weak self] in self?.whenReady?() }
    }
  }

  func finish() throws(TransportError) -> Body? { try collector.finish() }
}
