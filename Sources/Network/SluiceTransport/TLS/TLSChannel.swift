import CTLS
import Glibc
import SluiceLoop
package import SluiceMessages
package import SluicePipeline

/// TLS on one socket (RFC 8446), with OpenSSL, or inside the TLS of an HTTPS proxy. Only the loop uses it. It does not
/// close the socket.
///
/// The subclasses are for the two sides: ``TLSClientChannel`` and ``TLSServerChannel``.
package class TLSChannel {
  package enum Handshake {
    case done, wouldBlock
    /// The handshake waits until ``TLSClientChannel/answer(_:)`` passes the answer to this challenge.
    case asks(HandshakeChallenge)
    case failed(TLSFailure)
  }

  let pointer: OpaquePointer
  /// Whether the peer is not a proxy.
  let isForServer: Bool
  /// The TLS connection to the proxy, inside which this one runs.
  private let below: TLSChannel?
  private let socket: UnsafeMutablePointer<sluice_tls_socket>
  /// The total number of received bytes at the time when the last application data arrived.
  private var receivedAtData = 0
  /// The failure of the last call.
  private(set) var failure: TLSFailure?

  /// The maximum number of bytes that one call reads, so that other connections get their turn.
  private static let bytesPerCall = 65_536
  /// The maximum number of bytes of TLS's own messages, such as new sessions and key updates, that may arrive without
  /// application data between them. A server needs a few kilobytes for them. More than this is a flood, which would
  /// only cost processor time.
  private static let quietBytes = 262_144

  /// The table of functions is never changed after it is made.
  private nonisolated(unsafe) static let method = sluice_tls_make_bio_method()

  /// - Parameter below: the connection inside which this one runs.
  init(
    _ descriptor: Int32, inside below: TLSChannel? = nil, isForServer: Bool = true, _ context: OpaquePointer
  ) throws(TLSFailure) {
    guard let method = Self.method, let pointer = SSL_new(context) else { throw TLSFailure.last(.other) }
    self.pointer = pointer
    self.below = below
    self.isForServer = isForServer
    socket = .allocate(capacity: 1)
    socket.initialize(
      to: sluice_tls_socket(
        descriptor: descriptor, below: below?.pointer, below_socket: below?.socket, is_drained: 0, error: 0,
        budget: .max, received: 0))
    guard sluice_tls_attach(pointer, method, socket) == 1 else { throw TLSFailure.last(.other) }
    sluice_tls_set_owner(pointer, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    SSL_free(pointer)
    socket.deallocate()
  }

  package var security: ConnectionFacts.Security? { ConnectionFacts.Security(of: pointer) }

  /// Whether both sides have agreed on HTTP/2 in the handshake (RFC 9113 §3.2).
  package var hasChosenHTTP2: Bool {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(pointer, &name, &count)
    return UnsafeBufferPointer(start: name, count: Int(count)).elementsEqual("h2".utf8)
  }

  /// Whether all received bytes were read, from the system and from OpenSSL.
  var isDrained: Bool { socket.pointee.is_drained != 0 && SSL_has_pending(pointer) == 0 }

  /// Whether the last call stopped at its limit, so that the system may have more bytes.
  var isCut: Bool { socket.pointee.budget <= 0 }

  package func handshake() -> Handshake {
    ERR_clear_error()
    let result = SSL_do_handshake(pointer)
    if result == 1 {
      receivedAtData = socket.pointee.received
      return refusal.map { .failed($0) } ?? .done
    }
    let code = SSL_get_error(pointer, result)
    if code == SSL_ERROR_WANT_READ || code == SSL_ERROR_WANT_WRITE { return .wouldBlock }
    return waits(for: code) ?? .failed(handshakeFailure)
  }

  /// Why this side does not accept the peer after a handshake; nil if it does.
  var refusal: TLSFailure? { nil }

  /// What the handshake waits for, if an error of OpenSSL means that.
  func waits(for code: Int32) -> Handshake? { nil }

  var handshakeFailure: TLSFailure { TLSFailure.last(.handshake, systemError: systemError) }

  /// The system's error number of the last call that failed; 0 if none has.
  var systemError: Int32 { socket.pointee.error }

  /// Adds what the subclass knows to the failure of a call.
  func complete(_ failure: TLSFailure) -> TLSFailure { failure }

  /// - Parameter isPeek: whether the bytes stay, so that the next call reads them again.
  func read(into buffer: UnsafeMutableRawBufferPointer, isPeek: Bool = false) -> StreamSocket.Outcome {
    ERR_clear_error()
    socket.pointee.budget = Self.bytesPerCall
    // The flag that an earlier call has set may be out of date. This call may take a record from OpenSSL's memory,
    // although the system has received more bytes and has already reported them.
    socket.pointee.is_drained = 0
    let count =
      isPeek
      ? SSL_peek(pointer, buffer.baseAddress, Int32(clamping: buffer.count))
      : SSL_read(pointer, buffer.baseAddress, Int32(clamping: buffer.count))
    guard count <= 0 else {
      receivedAtData = socket.pointee.received
      return .bytes(Int(count))
    }
    return isFlooded ? failFlooded() : outcome(of: count)
  }

  private var isFlooded: Bool { socket.pointee.received - receivedAtData > Self.quietBytes }

  private func failFlooded() -> StreamSocket.Outcome {
    failure = TLSFailure(.other, "the peer sent more than \(Self.quietBytes) bytes of TLS messages without data")
    return .failed(0)
  }

  /// Whether application data or the end of the connection has arrived. This call also reads TLS's own messages, such
  /// as new sessions, which do not count.
  func hasInput() -> Bool {
    ERR_clear_error()
    var byte: UInt8 = 0
    socket.pointee.budget = Self.bytesPerCall
    let count = SSL_peek(pointer, &byte, 1)
    if count > 0 || isCut || isFlooded { return true }
    if case .wouldBlock = outcome(of: count) { return false }
    return true
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> StreamSocket.Outcome {
    guard !bytes.isEmpty else { return .bytes(0) }
    ERR_clear_error()
    let count = SSL_write(pointer, bytes.baseAddress, Int32(clamping: bytes.count))
    return count > 0 ? .bytes(Int(count)) : outcome(of: count)
  }

  /// Tells the peer that this side sends nothing more. Does not wait for the peer's answer.
  func close() {
    guard failure == nil else { return }
    ERR_clear_error()
    socket.pointee.budget = Self.bytesPerCall
    SSL_shutdown(pointer)
    ERR_clear_error()
    below?.close()
  }

  private func outcome(of result: Int32) -> StreamSocket.Outcome {
    switch SSL_get_error(pointer, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wouldBlock
    case SSL_ERROR_ZERO_RETURN: return .end
    default:
      let code = systemError
      failure = complete(TLSFailure.last(.other, systemError: code))
      return .failed(code)
    }
  }
}
