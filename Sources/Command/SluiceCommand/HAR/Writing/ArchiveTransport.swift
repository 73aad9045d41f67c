import SluiceMessages
import SluicePipeline

/// Puts an ``ArchiveHopRecorder`` between a transport and each hop of a transaction. Confined to its loop.
final class ArchiveTransport: Transport {
  private let transport: any Transport
  private let hops: HopCorrelation

  init(_ transport: any Transport, _ hops: HopCorrelation) {
    self.transport = transport
    self.hops = hops
  }

  func start(_ request: consuming Request, _ options: TransferOptions, observer: any TransferObserver) -> any Transfer {
    // Requests that plugins send themselves do not belong to a transaction.
    guard options.tellsHead else { return transport.start(request, options, observer: observer) }
    let recorder = ArchiveHopRecorder(copy request, observer, hops)
    request.body = recorder.sampled(request.body)
    var options = options
    options.wantsConnection = true
    return transport.start(request, options, observer: recorder)
  }

  func usesProxy(for origin: Origin) -> Bool { transport.usesProxy(for: origin) }

  func answerProxy(_ challenges: [Challenge], for origin: Origin, answered: Int) -> Bool {
    transport.answerProxy(challenges, for: origin, answered: answered)
  }

  func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer { transport.makeBodyGatherer(options) }

  func makeRequestGatherer(_ options: TransferOptions) -> any BodyGatherer { transport.makeRequestGatherer(options) }

  func stream(of file: FileBody) throws(TransportError) -> BodyStream { try transport.stream(of: file) }
}
