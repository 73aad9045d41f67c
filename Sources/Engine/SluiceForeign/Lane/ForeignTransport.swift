package import SluiceMessages
package import SluicePipeline

/// A transfer that the program makes, and not the pipeline. Confined to its loop.
package protocol ForeignTransfer: Transfer {
  /// The request stages are done, and the program can send the request.
  func started(_ request: consuming Request, _ observer: any TransferObserver)
}

/// The transport of a loop in a foreign program: its transfers are the program's own. Confined to its loop.
package final class ForeignTransport: Transport {
  /// The transfer whose request stages run now.
  package var next: (any ForeignTransfer)?
  /// The transfers whose request stages are suspended, by the transaction.
  private var expected: [ObjectIdentifier: any ForeignTransfer] = [:]

  /// Notes that a request stage is suspended, so that the transport gets the request later.
  package func expect(_ transfer: any ForeignTransfer, for observer: any TransferObserver) {
    expected[ObjectIdentifier(observer)] = transfer
  }

  package func forget(_ observer: any TransferObserver) {
    if !expected.isEmpty { expected[ObjectIdentifier(observer)] = nil }
  }

  package func start(
    _ request: consuming Request, _ options: TransferOptions, observer: any TransferObserver
  ) -> any Transfer {
    guard let transfer = next.take() ?? expected.removeValue(forKey: ObjectIdentifier(observer)) else {
      return Unexpected()
    }
    transfer.started(request, observer)
    return transfer
  }

  package func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer {
    MemoryGatherer(maximumBytes: options.maximumResponseBytes)
  }

  package func stream(of file: FileBody) throws(TransportError) -> BodyStream {
    throw TransportError(.bodyFile, "a stage has set a body from a file, but here a body must be in memory")
  }

  /// The transfer of a hop that no program has begun. This cannot happen, because a transaction makes only one attempt
  /// here.
  private final class Unexpected: Transfer {
    func cancel() {}
    func proceed(_ disposition: BodyDisposition) {}
    func resumeReceiving() {}
    func resumeSending() {}
  }
}

/// Keeps bodies in memory. Confined to its loop.
private final class MemoryGatherer: BodyGatherer {
  var whenReady: (() -> Void)?
  private let maximumBytes: Int
  private var bytes: [UInt8] = []

  init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  func append(_ piece: [UInt8]) throws(TransportError) -> BodyProgress {
    guard bytes.count + piece.count <= maximumBytes else {
      throw TransportError(.requestTooLarge, "the body is longer than \(maximumBytes) bytes")
    }
    bytes += piece
    return .proceed
  }

  func finish() -> Body? { bytes.isEmpty ? .empty : .bytes(bytes) }
}
