package import SluiceMessages

/// Carries hops over the wire. Each loop has its own transport, and everything here is called on that loop.
///
///     start ──► willIssue ──► didReceiveHead ──► didReceive… ──► didEnd
///       │  (connected; headers    (final head)     (streamed      (exactly once,
///       │   can still change)                       bodies only)   whatever happened)
///       └── a connect that fails goes straight to didEnd
package protocol Transport: AnyObject {
  /// Begins one hop. Never calls the observer before it returns.
  ///
  /// The transport keeps the observer until `didEnd`. `request` is the complete request. The transport does not handle
  /// redirects, challenges and retries.
  func start(_ request: consuming Request, _ options: TransferOptions, observer: any TransferObserver) -> any Transfer

  /// Whether a request to the origin goes to an HTTP proxy, which may demand its own credentials.
  func usesProxy(for origin: Origin) -> Bool

  /// Takes the challenges of the proxy in a 407 response to a request.
  ///
  /// - Parameter answered: how many earlier challenges to the same request were answered.
  /// - Returns: whether the transport adds another answer to the next request, from the user in the URL of the proxy.
  func answerProxy(_ challenges: [Challenge], for origin: Origin, answered: Int) -> Bool

  /// Gathers a body in the same way as ``BodyDisposition/collect``, after it has passed through stages in pieces.
  func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer

  /// Gathers a request body that the caller streams, for stages that want all of it.
  func makeRequestGatherer(_ options: TransferOptions) -> any BodyGatherer

  /// Reads a file that passes through stages before it is sent.
  func stream(of file: FileBody) throws(TransportError) -> BodyStream
}

extension Transport {
  package func makeRequestGatherer(_ options: TransferOptions) -> any BodyGatherer { makeBodyGatherer(options) }

  package func usesProxy(for origin: Origin) -> Bool { false }

  package func answerProxy(_ challenges: [Challenge], for origin: Origin, answered: Int) -> Bool { false }
}

/// Takes the pieces of a body and returns the whole body, in memory or in a file. Confined to the loop; never blocks
/// the loop.
package protocol BodyGatherer: AnyObject {
  /// Called when the caller should repeat a call that could not finish. It is called on the loop, but never while
  /// another function of this protocol is running.
  var whenReady: (() -> Void)? { get set }

  /// Takes a piece; it is accepted even when the result is `pause`.
  ///
  /// - Returns: ``BodyProgress/pause`` if the disk cannot keep up and the next piece should wait for ``whenReady``.
  /// - Throws: ``ErrorCode/responseTooLarge``, or an error if the file cannot be written.
  func append(_ piece: [UInt8]) throws(TransportError) -> BodyProgress

  /// - Returns: nil if a part of the body is not on disk yet; ``whenReady`` is called later.
  /// - Throws: if the file cannot be written.
  func finish() throws(TransportError) -> Body?
}

/// The options of one hop.
package struct TransferOptions: Sendable {
  /// A collected response body that is longer than this ends the transfer with
  /// ``ErrorCode/responseTooLarge``.
  package var maximumResponseBytes: Int
  /// The limit for streamed response bodies.
  package var maximumStreamedBytes: Int
  /// A collected body above this size goes to a file.
  package var spillBytes: Int
  /// Whether the user and password of the URL are sent as Basic before the server asks for them.
  package var sendsBasicUnasked: Bool
  /// Whether a new connection is made, instead of using a kept connection.
  package var wantsFreshConnection = false
  /// How often a server has refused the request without processing it.
  package var refusals = 0
  /// Whether the transport passes each head that it writes to ``TransportSettings/onSentHead``.
  package var tellsHead: Bool
  /// Whether the transport reports how much of the bodies it has sent and received.
  package var tellsProgress = false
  /// Whether the transport collects facts about the connection, even if nobody else in the process wants them.
  package var wantsConnection = false
  /// Which challenges of a handshake the observer answers; nil if it answers none. The hop goes only over connections
  /// that were made for the same policy.
  package var handshake: HandshakePolicy?
  /// Whether the body is decoded, if the settings of the transport want that too.
  package var decodesContent = true
  /// Whether the body is decoded only if the observer wants that (``TransferObserver/wantsDecodedBody``).
  package var decodesOnDemand = false
  /// Whether a large body may wait for a 100 response.
  package var expectsContinue = true
  /// The priority of the hop while it waits for a connection.
  package var priority = RequestOptions.Priority.normal
  /// Whether the request has options that concern its connection: a client certificate or a Unix socket. The
  /// certificate and the socket themselves stay in the request, so that a `TransferOptions` contains no references.
  package var hasRoute = false
  /// Whether a redirect has led to another origin, which does not get the client certificate of the request.
  package var isElsewhere = false

  package init(
    maximumResponseBytes: Int = 67_108_864, maximumStreamedBytes: Int = .max, spillBytes: Int = 1_048_576,
    sendsBasicUnasked: Bool = true,
    tellsHead: Bool = false
  ) {
    self.tellsHead = tellsHead
    self.sendsBasicUnasked = sendsBasicUnasked
    self.maximumResponseBytes = maximumResponseBytes
    self.maximumStreamedBytes = maximumStreamedBytes
    self.spillBytes = spillBytes
  }
}

extension TransferOptions {
  /// Whether the transport collects facts about the connection.
  package var collectsConnection: Bool { wantsConnection || ConnectionFacts.areWanted }
}

/// A hop under way. Confined to the loop.
package protocol Transfer: AnyObject {
  /// Ends the transfer; `didEnd` follows with ``ErrorCode/cancelled``, later on the loop and not from within this call.
  /// Calling this after the end has no effect.
  func cancel()

  /// Continues after the observer has answered the head with ``BodyDisposition/hold``.
  func proceed(_ disposition: BodyDisposition)

  /// Continues after the observer has answered a piece with ``BodyProgress/pause``.
  func resumeReceiving()

  /// Continues after the stream of the request body returned an empty piece; does nothing when the transfer is not
  /// waiting for the stream.
  func resumeSending()

  /// The timings so far, before the end; nil if the transport does not measure them.
  var timings: TransferTimings? { get }

  /// The connection of the transfer. Nil before the transfer has a connection, and if such facts are not wanted
  /// (``TransferOptions/collectsConnection``).
  var connection: ConnectionFacts? { get }
}

extension Transfer {
  package var connection: ConnectionFacts? { nil }

  package var timings: TransferTimings? { nil }
}

/// Gets the events of a hop. Called on the loop: no call may block.
package protocol TransferObserver: AnyObject {
  /// The connection is established and nothing was sent. The headers of this hop can be set only at this moment.
  ///
  /// Called exactly once for a transfer that connects, and again after each ``transferDidContinue(after:with:_:)``. If
  /// a kept connection turns out to be dead, the transport does not send the request again: the hop ends with
  /// ``ErrorCode/resent``.
  /// - Parameter headers: the fields of the request as they will be sent; changes last for this hop.
  /// - Returns: false ends the transfer with ``ErrorCode/cancelled``.
  func transferWillIssue(_ headers: inout HeaderFields) -> Bool

  /// The handshake of a new connection waits. Called only for challenges that ``TransferOptions/handshake`` names, and
  /// for one challenge at a time.
  ///
  /// - Parameter answer: called once, on the loop, possibly before this returns; with nil if the observer has no more
  ///   interest in the connection.
  func transferDidMeet(_ challenge: HandshakeChallenge, answer: @escaping (HandshakeDecision?) -> Void)

  /// The transport begins the next hop by itself, because the program, and not the pipeline, decides about it;
  /// ``transferWillIssue(_:)`` follows.
  ///
  /// - Parameters:
  ///   - head: the response to the hop that has ended: a redirect, or a challenge that was answered. Nil if there was
  ///     no response and the same request is sent again.
  ///   - next: the request of the next hop.
  ///   - timings: the timings of the hop that has ended.
  func transferDidContinue(after head: consuming Response?, with next: consuming Request, _ timings: TransferTimings)

  /// An informational (1xx) response.
  func transferDidReceiveInformational(_ status: Int, _ headers: HeaderFields)

  /// Whether the body is needed without its content codings. Read before the head is passed on, if
  /// ``TransferOptions/decodesOnDemand`` is set and the body has codings that the transport can undo. If this is true,
  /// the fields of the head describe the decoded body.
  var wantsDecodedBody: Bool { get }

  /// The head of the final response has arrived; its body is still empty.
  func transferDidReceiveHead(_ head: consuming Response) -> BodyDisposition

  /// A piece of a streamed body, decoded.
  func transferDidReceive(_ piece: [UInt8]) -> BodyProgress

  /// Reports how much of the request body was sent so far. Called only if ``TransferOptions/tellsProgress`` is set, and
  /// only with a greater number than before.
  func transferDidSend(bodyBytes count: Int, of total: Int?)

  /// Reports how much of the response body has arrived so far, before decoding. Called under the same conditions as
  /// ``transferDidSend(bodyBytes:of:)``.
  func transferDidReceive(bodyBytes count: Int, of total: Int?)

  /// The transfer has ended. Called exactly once.
  func transferDidEnd(_ end: consuming TransferEnd)
}

extension TransferObserver {
  package var wantsDecodedBody: Bool { true }
  package func transferDidMeet(_ challenge: HandshakeChallenge, answer: @escaping (HandshakeDecision?) -> Void) {
    answer(.performDefaultHandling)
  }
  package func transferDidContinue(
    after head: consuming Response?, with next: consuming Request, _ timings: TransferTimings
  ) {}
  package func transferDidSend(bodyBytes count: Int, of total: Int?) {}
  package func transferDidReceive(bodyBytes count: Int, of total: Int?) {}
}

/// What happens to a response body.
package enum BodyDisposition: Sendable, Hashable {
  /// Gathered in memory, or in a file beyond `spillBytes`, and delivered with the end.
  case collect
  /// Delivered piece by piece to ``TransferObserver/transferDidReceive(_:)``.
  case stream
  /// A short body is read and discarded, so that the connection can be used again; otherwise the transfer is ended
  /// early. In both cases the transfer ends as a success.
  case discard
  /// Nothing is read until ``Transfer/proceed(_:)``.
  case hold
}

/// Whether more of a streamed body is wanted now.
public enum BodyProgress: Sendable, Hashable {
  case proceed
  /// The piece was taken; neither another piece nor a successful end comes before `resumeReceiving()` is called.
  case pause
  /// No more pieces are wanted: ends the transfer as cancelled.
  case stop
}
