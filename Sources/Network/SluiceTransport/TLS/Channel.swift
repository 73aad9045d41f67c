import CLinux
import Glibc
package import SluiceMessages

/// A connected socket, with or without TLS. Behind an HTTPS proxy, TLS to the server is inside TLS to the proxy.
package struct Channel {
  package let socket: StreamSocket
  package let tls: TLSChannel?

  package init(socket: StreamSocket, tls: TLSChannel?) { (self.socket, self.tls) = (socket, tls) }

  /// Whether ``tls`` leads to the server, and not only to a proxy.
  var isSecure: Bool { tls?.isForServer == true }

  @inline(__always)
  package func receive(into buffer: UnsafeMutableRawBufferPointer) -> StreamSocket.Outcome {
    tls?.read(into: buffer) ?? socket.receive(into: buffer)
  }

  /// Reads without taking the bytes away.
  package func peek(into buffer: UnsafeMutableRawBufferPointer) -> StreamSocket.Outcome {
    tls?.read(into: buffer, isPeek: true) ?? socket.peek(into: buffer)
  }

  /// Whether a read of `count` bytes into a buffer of `capacity` bytes has emptied the socket. The system then reports
  /// bytes that arrive later.
  @inline(__always)
  package func isDrained(afterReading count: Int, of capacity: Int) -> Bool { tls?.isDrained ?? (count < capacity) }

  /// Whether a read that returned nothing has stopped at its limit, so that more bytes may be available.
  package var isCut: Bool { tls?.isCut ?? false }

  /// Whether anything has arrived on a connection on which nothing should arrive: bytes, the end of the stream or an
  /// error.
  func hasInput() -> Bool { tls?.hasInput() ?? socket.hasInput() }

  @inline(__always)
  package func send(_ bytes: UnsafeRawBufferPointer) -> StreamSocket.Outcome {
    tls?.write(bytes) ?? socket.send(bytes)
  }

  /// Sends two buffers, in one call where possible.
  @inline(__always)
  package func send(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> StreamSocket.Outcome {
    guard let tls else { return socket.send(first, second) }
    return tls.write(first.isEmpty ? second : first)
  }

  /// The addresses, and the facts of TLS.
  package var facts: ConnectionFacts {
    var facts = ConnectionFacts()
    facts.peer = socket.address(ofPeer: true)
    facts.local = socket.address(ofPeer: false)
    facts.isSecure = isSecure
    if isSecure { facts.security = tls?.security }
    return facts
  }

  /// Tells the peer that this side sends nothing more.
  package func endSending() {
    tls?.close()
    shutdown(socket.descriptor, sluice_shutdown_sending)
  }

  package func close() {
    tls?.close()
    socket.close()
  }
}
