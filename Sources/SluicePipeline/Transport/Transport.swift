package import SluiceMessages

/// What carries hops over the wire. One per loop; everything here is called on that loop.
///
///     start ──► willIssue ──► didReceiveHead ──► didReceive… ──► didEnd
///       │  (connected; headers    (final head)     (streamed      (exactly once,
///       │   can still change)                       bodies only)   whatever happened)
///       └── a connect that fails goes straight to didEnd
package protocol Transport: AnyObject {
  /// Begins one hop. Never calls the observer before it returns.
  ///
  /// The transport keeps the observer until `didEnd`. `request` is the complete request; redirects, challenges and
  /// retries are not the transport's to handle, and a second sending that the wire library starts by itself is aborted.
  func start(_ request: consuming Request, _ options: TransferOptions, observer: any TransferObserver) -> any Transfer

  /// Whether a request to the origin goes to an HTTP proxy, which may demand its own credentials; false if that is not
  /// known.
  func usesProxy(for origin: Origin) -> Bool

  /// Gathers a body that was streamed through stages as ``BodyDisposition/collect`` would have gathered it.
  func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer

  /// Gathers a request body that the caller streams, for stages that want to have the whole.
  func makeRequestGatherer(_ options: TransferOptions) -> any BodyGatherer

  /// Reads a file that is to go through stages before it is sent.
  func stream(of file: FileBody) throws(TransportError) -> BodyStream
}

extension Transport {
  package func makeRequestGatherer(_ options: TransferOptions) -> any BodyGatherer { makeBodyGatherer(options) }

  package func usesProxy(for origin: Origin) -> Bool { false }
}

/// Takes the pieces of a body and returns the whole body, in memory or in a file. Confined to the loop, which it never
/// blocks.
package protocol BodyGatherer: AnyObject {
  /// Called when the caller should ask again, after a call that could not finish. On the loop, never from within a call
  /// of this protocol.
  var whenReady: (() -> Void)? { get set }

  /// Takes a piece; it is accepted even when the result is `pause`.
  ///
  /// - Returns: ``BodyProgress/pause`` when the disk is behind and the next piece should wait for ``whenReady``.
  /// - Throws: ``TransportError/Code/responseTooLarge``, or that the file cannot be written.
  func append(_ piece: [UInt8]) throws(TransportError) -> BodyProgress

  /// - Returns: nil when not all of the body is on disk yet; ``whenReady`` follows.
  /// - Throws: when the file cannot be written.
  func finish() throws(TransportError) -> Body?
}

/// The options of one hop.
package struct TransferOptions: Sendable {
  /// Response bodies that are collected and longer than this end the transfer with
  /// ``TransportError/Code/responseTooLarge``.
  package var maximumResponseBytes: Int
  /// The same for those that are streamed.
  package var maximumStreamedBytes: Int
  /// A collected body beyond this goes to a file.
  package var spillBytes: Int
  /// Whether the user and password of the URL are sent as Basic before the server asks for them.
  package var sendsBasicUnasked: Bool
  /// Whether a connection of its own is made, and no kept one used.
  package var wantsFreshConnection = false
  /// Whether a transport that is watched tells the head as it is written.
  package var tellsHead: Bool

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

/// A hop under way. Confined to the loop.
package protocol Transfer: AnyObject {
  /// Ends the transfer; `didEnd` follows with ``TransportError/Code/cancelled``, later on the loop and not from within this call.
  /// Harmless after the end.
  func cancel()

  /// Goes on after the observer answered the head with ``BodyDisposition/hold``.
  func proceed(_ disposition: BodyDisposition)

  /// Goes on after the observer answered a piece with ``BodyProgress/pause``.
  func resumeReceiving()

  /// Continues after the stream of the request body returned an empty piece; does nothing when the transfer is not
  /// waiting for the stream.
  func resumeSending()

  /// The timings so far, before the end; nil if the transport does not measure them.
  var timings: TransferTimings? { get }

  /// The connection, from the moment the transfer has one; nil before, and unless such facts are wanted
  /// (``ConnectionFacts/areWanted``).
  var connection: ConnectionFacts? { get }
}

extension Transfer {
  package var connection: ConnectionFacts? { nil }

  package var timings: TransferTimings? { nil }
}

/// Gets the events of a hop. Called on the loop, partly from inside the wire library: no call may block.
package protocol TransferObserver: AnyObject {
  /// The connection is established and nothing was sent: the only moment to set the headers of this hop.
  ///
  /// Called exactly once for a transfer that connects. The library may want to send again by itself (a reused connection
  /// died, a second leg of authentication): the transport aborts that and ends with ``TransportError/Code/resent``.
  /// - Parameter headers: the fields of the request as they will be sent; changes last for this hop.
  /// - Returns: false ends the transfer with ``TransportError/Code/cancelled``.
  func transferWillIssue(_ headers: inout HeaderFields) -> Bool

  /// An informational (1xx) response.
  func transferDidReceiveInformational(_ status: Int, _ headers: HeaderFields)

  /// The head of the final response is there; its body is still empty.
  func transferDidReceiveHead(_ head: consuming Response) -> BodyDisposition

  /// A piece of a body that is streamed; the content decoded.
  func transferDidReceive(_ piece: [UInt8]) -> BodyProgress

  /// The end, exactly once.
  func transferDidEnd(_ end: consuming TransferEnd)
}

/// What happens to a response body.
package enum BodyDisposition: Sendable, Hashable {
  /// Gathered in memory, beyond `spillBytes` in a file, and given with the end.
  case collect
  /// Given piece by piece to ``TransferObserver/transferDidReceive(_:)``.
  case stream
  /// A short body is read and discarded, so that the connection can be used again; otherwise the transfer is cut. Ends
  /// as success.
  case discard
  /// Nothing is read until ``Transfer/proceed(_:)``.
  case hold
}

/// Whether more of a streamed body is wanted now.
public enum BodyProgress: Sendable, Hashable {
  case proceed
  /// The piece was taken; neither another one nor a successful end comes before ``Transfer/resumeReceiving()``.
  case pause
  /// Nothing further is wanted: ends the transfer as cancelled.
  case stop
}
