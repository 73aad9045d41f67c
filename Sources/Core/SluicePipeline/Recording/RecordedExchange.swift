package import SluiceMessages
package import SluiceTraceContext

/// A request and the answers from the wire: enough to run the request through a pipeline again without a wire. Made for
/// requests that want a recording (`Request.wantsRecording`).
///
/// It contains secrets unchanged, like the request itself.
public struct RecordedExchange: Sendable {
  /// The request as the caller gave it. If its body was streamed, it has the part of the body that was read.
  package var request: Request
  /// Whether the body cannot be sent a second time, because it could be produced only once.
  package var isRequestStreamed = false
  /// Whether the whole body of the request was recorded.
  package var isRequestWhole = true
  /// Why the body is missing, if this is known.
  package var requestGap: String?
  package var parent = ParentContext()
  /// When the transaction began, since 1970-01-01T00:00:00Z.
  package var time = Duration.zero
  /// The hops in the order in which they were sent, over all attempts.
  package var hops: [RecordedHop] = []
  /// The call-outs that ended before the transaction did, and that no earlier recording has.
  package var callOuts: [RecordedCallOut] = []
  /// Nil if the recording does not say how the transaction ended.
  package var outcome: RecordedOutcome?

  package init(_ request: Request) { self.request = request }
}

/// The result of one hop.
package struct RecordedHop: Sendable {
  /// Whether the connection was established, so that the issue stages were called.
  package var wasIssued: Bool
  /// The head, and the received part of the body; nil without a response.
  package var response: Response?
  /// Whether the whole body was recorded. A part that was not wanted or was too large is not recorded.
  package var isBodyWhole: Bool
  /// Why the body is missing, if this is known.
  package var bodyGap: String?
  /// Why there is no complete response.
  package var error: TransportError?

  package init(
    wasIssued: Bool = true, response: Response? = nil, isBodyWhole: Bool = true, error: TransportError? = nil
  ) {
    self.wasIssued = wasIssued
    self.response = response
    self.isBodyWhole = isBodyWhole
    self.error = error
  }
}

// Samples: recordings that take little memory, and no file.
extension RecordedExchange {
  /// The maximum size of a body in a sample, in bytes.
  fileprivate static let sampleBodyBytes = 1 << 20
  private static let gap = "a sample has no body above \(sampleBodyBytes >> 20) MiB, and none from a file"

  /// The recording without what a sample does not have: large bodies, and call-outs.
  package var sample: RecordedExchange {
    var sample = self
    sample.callOuts = []
    if !Self.fits(request.body) {
      (sample.request.body, sample.isRequestWhole, sample.requestGap) = (.empty, false, Self.gap)
    }
    for index in hops.indices {
      guard let response = hops[index].response, !Self.fits(response.body) else { continue }
      sample.hops[index].response?.body = .empty
      (sample.hops[index].isBodyWhole, sample.hops[index].bodyGap) = (false, Self.gap)
    }
    return sample
  }

  private static func fits(_ body: Body) -> Bool {
    switch body {
    case .empty, .stream: true
    case .bytes(let bytes): bytes.count <= sampleBodyBytes
    case .file: false
    }
  }
}

extension TransferOptions {
  /// Options with which a body that is too large for a sample is not gathered.
  var forSamples: TransferOptions {
    var options = self
    options.maximumResponseBytes = min(options.maximumResponseBytes, RecordedExchange.sampleBodyBytes)
    options.spillBytes = .max
    return options
  }
}
