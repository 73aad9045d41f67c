import Glibc
import SluiceLoop
import SluicePipeline
import SluiceTransport

/// A connection until it is known what the client speaks: during the handshake of TLS, in which both sides agree on a
/// version of HTTP (RFC 7301); without TLS, until the first bytes show whether it is HTTP/2 (RFC 9113 §3.3).
final class ServerOpening: ServerConnection {
  /// The bytes with which a client begins HTTP/2 (RFC 9113 §3.4).
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  private var deadline: Instant
  /// The ends of the connection that the system has reported. It reports them only once.
  private var ends: UInt32 = 0
  /// Received bytes that can be the beginning of the preface.
  private var held: [UInt8] = []
  private var isOver = false

  override init(_ channel: Channel, _ port: ServerPort) {
    // A handshake is limited like a head. Without TLS, the client can connect long before it sends its first request.
    let limit = channel.tls == nil ? port.waits.idle : port.waits.head
    deadline = port.loop.turnBegan.advanced(byNanoseconds: limit)
    super.init(channel, port)
  }

  override func isReady(_ events: UInt32) {
    ends |= events & StreamSocket.ends
    readOn()
  }

  override func readOn() {
    guard !isOver else { return }
    if channel.tls == nil { receive() } else { shakeHands() }
  }

  override func check(at now: Instant) {
    if now >= deadline { end() }
  }

  override func drain() { end() }

  override func end() {
    guard !isOver else { return }
    isOver = true
    remove(isAbort: false)
  }

  private func shakeHands() {
    guard let tls = channel.tls else { return }
    switch tls.handshake() {
    case .wouldBlock, .asks: return
    case .failed: end()
    case .done:
      let connection =
        tls.hasChosenHTTP2 ? HTTP2ServerConnection.make(channel, port) : HTTP1ServerConnection(channel, port)
      guard let connection else { return end() }
      proceed(with: connection)
      connection.isReady(ends)
    }
  }

  private func receive() {
    switch channel.receive(into: port.buffer) {
    case .wouldBlock: return
    case .end, .failed: return end()
    case .bytes(let count): take(UnsafeRawBufferPointer(rebasing: port.buffer[..<count]))
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) {
    let known = held.count
    let common = zip(bytes, Self.preface.dropFirst(known)).prefix { $0 == $1 }.count
    guard known + common < Self.preface.count else { return begin(HTTP2ServerConnection.make(channel, port), bytes) }
    guard common == bytes.count else { return begin(HTTP1ServerConnection(channel, port), bytes) }
    // From the first byte, the client has as long as for a head.
    if held.isEmpty { deadline = min(deadline, now.advanced(byNanoseconds: port.waits.head)) }
    held.append(contentsOf: bytes)
    port.readLater(self)
  }

  /// Passes on everything that was read.
  private func begin(_ connection: (some FirstBytesReader)?, _ bytes: UnsafeRawBufferPointer) {
    guard let connection else { return end() }
    proceed(with: connection)
    if held.isEmpty {
      connection.begin(bytes)
    } else {
      (held + bytes).withUnsafeBytes { connection.begin($0) }
    }
    connection.isReady(ends)
  }

  private func proceed(with connection: ServerConnection) {
    isOver = true
    hand(over: connection)
  }
}

/// A connection that can begin with bytes that were read before.
protocol FirstBytesReader: ServerConnection {
  func begin(_ bytes: UnsafeRawBufferPointer)
}

extension HTTP1ServerConnection: FirstBytesReader {}
extension HTTP2ServerConnection: FirstBytesReader {}
