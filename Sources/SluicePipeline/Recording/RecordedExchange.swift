package import SluiceMessages
package import SluiceTraceContext

/// A request, and what the wire answered to it: enough to run it through a pipeline once more without a wire. There for
/// requests that want a recording (``SluiceMessages/Request/wantsRecording``).
///
/// It holds secrets as they are, as the request itself does.
public struct RecordedExchange: Sendable {
  /// As the caller gave it. A body that was streamed is here as far as it was read.
  package var request: Request
  /// Whether the body was produced once, and so cannot be sent a second time.
  package var isRequestStreamed = false
  /// False if the request's body, or a part of it, was not recorded.
  package var isRequestWhole = true
  package var parent = ParentContext()
  /// When the transaction began, since 1970-01-01T00:00:00Z.
  package var time = Duration.zero
  /// In the order in which they were sent, over all attempts.
  package var hops: [RecordedHop] = []

  package init(_ request: Request) { self.request = request }
}

/// What became of one hop.
package struct RecordedHop: Sendable {
  /// Whether the connection stood, so that the issue stages were called.
  package var wasIssued: Bool
  /// The head, and the body as far as it came; nil without a response.
  package var response: Response?
  /// False where the body is not here, or not all of it: nobody wanted it, or it was too large to be kept.
  package var isBodyWhole: Bool
  /// Why there is no whole response.
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
