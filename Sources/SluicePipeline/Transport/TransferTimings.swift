public import SluiceMessages

/// Where a hop spent its time, and over which connection. A phase that did not happen is zero.
///
/// One reference wide, and copied on write: they go through many hands and are seldom looked at.
public struct TransferTimings: Sendable, Hashable {
  private var values = Values()

  public init() {}

  /// Before the transport could begin: waiting for the name, for a free connection.
  public var queue: Duration {
    get { values.fields.queue }
    set {
      detach()
      values.fields.queue = newValue
    }
  }

  public var nameLookup: Duration {
    get { values.fields.nameLookup }
    set {
      detach()
      values.fields.nameLookup = newValue
    }
  }

  public var connect: Duration {
    get { values.fields.connect }
    set {
      detach()
      values.fields.connect = newValue
    }
  }

  public var tlsHandshake: Duration {
    get { values.fields.tlsHandshake }
    set {
      detach()
      values.fields.tlsHandshake = newValue
    }
  }

  /// From the first byte out to the last byte out, or to the first byte in where that comes before.
  public var send: Duration {
    get { values.fields.send }
    set {
      detach()
      values.fields.send = newValue
    }
  }

  /// From the last byte out to the first byte in.
  public var wait: Duration {
    get { values.fields.wait }
    set {
      detach()
      values.fields.wait = newValue
    }
  }

  public var receive: Duration {
    get { values.fields.receive }
    set {
      detach()
      values.fields.receive = newValue
    }
  }

  public var isConnectionReused: Bool {
    get { values.fields.isConnectionReused }
    set {
      detach()
      values.fields.isConnectionReused = newValue
    }
  }

  /// Address of the server or proxy, without port.
  public var peerAddress: String? {
    get { values.fields.peerAddress }
    set {
      detach()
      values.fields.peerAddress = newValue
    }
  }

  public var version: HTTPVersion? {
    get { values.fields.version }
    set {
      detach()
      values.fields.version = newValue
    }
  }

  public var bytesSent: Int {
    get { values.fields.bytesSent }
    set {
      detach()
      values.fields.bytesSent = newValue
    }
  }

  /// Body bytes on the wire, before decoding.
  public var bytesReceived: Int {
    get { values.fields.bytesReceived }
    set {
      detach()
      values.fields.bytesReceived = newValue
    }
  }

  private mutating func detach() {
    if !isKnownUniquelyReferenced(&values) { values = Values(values.fields) }
  }

  public static func == (left: TransferTimings, right: TransferTimings) -> Bool {
    left.values === right.values || left.values.fields == right.values.fields
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(values.fields) }
}

extension TransferTimings {
  private struct Fields: Hashable {
    var queue = Duration.zero
    var nameLookup = Duration.zero
    var connect = Duration.zero
    var tlsHandshake = Duration.zero
    var send = Duration.zero
    var wait = Duration.zero
    var receive = Duration.zero
    var isConnectionReused = false
    var peerAddress: String?
    var version: HTTPVersion?
    var bytesSent = 0
    var bytesReceived = 0
  }

  /// Unchecked, since nobody changes it but the one value that refers to it.
  private final class Values: @unchecked Sendable {
    var fields: Fields

    init(_ fields: Fields = Fields()) { self.fields = fields }
  }
}
