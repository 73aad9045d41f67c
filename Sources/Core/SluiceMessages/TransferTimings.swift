/// Where a hop spent its time, and over which connection. A phase that did not happen is zero.
///
/// The value is behind one reference and copied on write, because timings are passed on often and seldom read.
public struct TransferTimings: Sendable, Hashable {
  private var fields = SharedValue(Fields())

  /// All phases and counts are zero; peer and version are unknown.
  package init() {}

  /// Sets all values at once, so that the storage is not copied for each value.
  package init(
    _ nanoseconds: Nanoseconds, isConnectionReused: Bool, peerAddress: String?, version: HTTPVersion?,
    bytesSent: Int, bytesReceived: Int
  ) {
    fields = SharedValue(
      Fields(
        nanoseconds: nanoseconds, isConnectionReused: isConnectionReused, peerAddress: peerAddress, version: version,
        bytesSent: bytesSent, bytesReceived: bytesReceived))
  }

  /// The phases as they are stored. A `Duration` takes twice as much memory, and computing with it takes longer.
  package var nanoseconds: Nanoseconds { fields.value.nanoseconds }

  /// The time before the transport could begin: waiting for the name look-up and for a free connection.
  public var queue: Duration {
    get { Duration(nanoseconds: fields.value.nanoseconds.queue) }
    set { fields.value.nanoseconds.queue = newValue.nanoseconds }
  }

  /// The name look-up. Zero on a reused connection, and if the name was looked up before the transport began
  /// (``queue``).
  public var nameLookup: Duration {
    get { Duration(nanoseconds: fields.value.nanoseconds.nameLookup) }
    set { fields.value.nanoseconds.nameLookup = newValue.nanoseconds }
  }

  /// The time until the connection to the server or proxy is open; zero on a reused connection.
  public var connect: Duration {
    get { Duration(nanoseconds: fields.value.nanoseconds.connect) }
    set { fields.value.nanoseconds.connect = newValue.nanoseconds }
  }

  /// The time from the open connection to a proxy until the proxy has connected to the server; zero without a proxy,
  /// for requests that the proxy itself answers, and on a reused connection.
  public var tunnel: Duration {
    get { Duration(nanoseconds: fields.value.nanoseconds.tunnel) }
    set { fields.value.nanoseconds.tunnel = newValue.nanoseconds }
  }

  /// The time from the open connection to the end of the TLS handshake; zero without TLS and on a reused connection.
  public var tlsHandshake: Duration {
    get { Duration(nanoseconds: fields.value.nanoseconds.tlsHandshake) }
    set { fields.value.nanoseconds.tlsHandshake = newValue.nanoseconds }
  }

  /// The time from the first byte sent to the last byte sent. If the first byte is received before that, the time ends
  /// there.
  public var send: Duration {
    get { Duration(nanoseconds: fields.value.nanoseconds.send) }
    set { fields.value.nanoseconds.send = newValue.nanoseconds }
  }

  /// The time from the last byte sent to the first byte received.
  public var wait: Duration {
    get { Duration(nanoseconds: fields.value.nanoseconds.wait) }
    set { fields.value.nanoseconds.wait = newValue.nanoseconds }
  }

  /// The time from the first byte received to the end of the transfer.
  public var receive: Duration {
    get { Duration(nanoseconds: fields.value.nanoseconds.receive) }
    set { fields.value.nanoseconds.receive = newValue.nanoseconds }
  }

  /// Whether an earlier request opened the connection; false if there was no connection.
  public var isConnectionReused: Bool {
    get { fields.value.isConnectionReused }
    set { fields.value.isConnectionReused = newValue }
  }

  /// Address of the server or proxy, without port.
  public var peerAddress: String? {
    get { fields.value.peerAddress }
    set { fields.value.peerAddress = newValue }
  }

  /// The version of the response; nil before its head.
  public var version: HTTPVersion? {
    get { fields.value.version }
    set { fields.value.version = newValue }
  }

  /// Bytes of the request's head and body.
  public var bytesSent: Int {
    get { fields.value.bytesSent }
    set { fields.value.bytesSent = newValue }
  }

  /// Body bytes on the wire, before decoding.
  public var bytesReceived: Int {
    get { fields.value.bytesReceived }
    set { fields.value.bytesReceived = newValue }
  }
}

extension TransferTimings {
  /// The time of each phase in nanoseconds.
  package struct Nanoseconds: Hashable, Sendable {
    package var queue: UInt64 = 0
    package var nameLookup: UInt64 = 0
    package var connect: UInt64 = 0
    package var tunnel: UInt64 = 0
    package var tlsHandshake: UInt64 = 0
    package var send: UInt64 = 0
    package var wait: UInt64 = 0
    package var receive: UInt64 = 0

    package init() {}
  }

  private struct Fields: Hashable, Sendable {
    var nanoseconds = Nanoseconds()
    var isConnectionReused = false
    var peerAddress: String?
    var version: HTTPVersion?
    var bytesSent = 0
    var bytesReceived = 0
  }
}
