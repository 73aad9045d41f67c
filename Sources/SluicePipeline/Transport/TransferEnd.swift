public import SluiceMessages

/// How a hop ended.
public struct TransferEnd: Sendable {
  /// Nil when the whole response arrived.
  public var error: TransportError?
  /// The collected body; ``Body/empty`` where it was streamed or discarded.
  public var body: Body
  public var trailers: HeaderFields
  public var timings: TransferTimings

  public init(
    error: TransportError? = nil, body: Body = .empty, trailers: HeaderFields = HeaderFields(),
    timings: TransferTimings = TransferTimings()
  ) {
    self.error = error
    self.body = body
    self.trailers = trailers
    self.timings = timings
  }
}

/// Where a hop spent its time, and over which connection. A phase that did not happen is zero.
public struct TransferTimings: Sendable, Hashable {
  /// Before the transport could begin: waiting for the name, for a free connection.
  public var queue = Duration.zero
  public var nameLookup = Duration.zero
  public var connect = Duration.zero
  public var tlsHandshake = Duration.zero
  /// From the first byte out to the last byte out, or to the first byte in where that comes before.
  public var send = Duration.zero
  /// From the last byte out to the first byte in.
  public var wait = Duration.zero
  public var receive = Duration.zero
  public var isConnectionReused = false
  /// Address of the server or proxy, without port.
  public var peerAddress: String?
  public var version: HTTPVersion?
  public var bytesSent = 0
  /// Body bytes on the wire, before decoding.
  public var bytesReceived = 0

  public init() {}
}
