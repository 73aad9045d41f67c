import CLinux
import Glibc
package import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The calls on a stream socket that is connected or connecting. They never block. The owner of the socket closes it.
package struct StreamSocket {
  package let descriptor: Int32

  /// The result of a call that reads or writes.
  package enum Outcome {
    case bytes(Int)
    /// Nothing can be read or written now.
    case wouldBlock
    /// The peer has closed its side.
    case end
    case failed(Int32)
  }

  /// The result of beginning a connection.
  enum Start {
    case connected, inProgress
    case failed(Int32)
  }

  /// Makes a socket. Returns nil and sets `errno` if the only free descriptors are the reserved ones.
  init?(family: Int32) {
    let descriptor = SharedState.keepingStreams(
      socket(family, sluice_socket_stream | sluice_socket_close_on_exec | sluice_socket_nonblocking, 0))
    guard descriptor >= 0 else { return nil }
    guard !DescriptorLimit.isReserved(descriptor) else {
      _ = Glibc.close(descriptor)
      errno = EMFILE
      return nil
    }
    self.descriptor = descriptor
    if family != AF_UNIX { setOptions() }
  }

  /// The result of accepting a connection.
  package enum Accepted {
    case socket(StreamSocket)
    /// No connection waits.
    case none
    /// Descriptors or memory have run out, or the only free descriptors are the reserved ones.
    case exhausted
  }

  /// Takes a connection that waits at a listening socket.
  package static func accept(from listener: Int32) -> Accepted {
    while true {
      let descriptor = sluice_socket_accept(listener)
      guard descriptor < 0 else {
        let socket = StreamSocket(adopting: descriptor)
        guard DescriptorLimit.isReserved(descriptor) else { return .socket(socket) }
        socket.close()
        return .exhausted
      }
      switch errno {
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
      case EINTR, ECONNABORTED: continue
      // A network error of a connection is reported here too (accept(2)). The connection is gone.
      default: return .none
      }
    }
  }

  private init(adopting descriptor: Int32) {
    self.descriptor = descriptor
    setOptions()
  }

  /// Has no effect on a Unix socket.
  private func setOptions() {
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Binds the socket to an interface or an address of this machine, so that its connection starts there. Returns the
  /// system's error number, or nil for success.
  func bind(to source: SocketSettings.Source) -> Int32? {
    switch source {
    case .interface(let name):
      let result = setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, name, socklen_t(name.utf8.count))
      return result == 0 ? nil : errno
    case .address(let text):
      guard let address = SocketAddress(text, port: 0) else { return EINVAL }
      return address.withAddress { Glibc.bind(descriptor, $0, $1) } == 0 ? nil : errno
    }
  }

  package func close() { _ = Glibc.close(descriptor) }

  func connect(to address: SocketAddress) -> Start {
    let result = address.withAddress { Glibc.connect(descriptor, $0, $1) }
    if result == 0 { return .connected }
    // connect returns EAGAIN for a Unix socket whose queue is full.
    return errno == EINPROGRESS || errno == EINTR ? .inProgress : .failed(errno)
  }

  /// The error of a connection that was in progress; 0 if the connection is established.
  package func connectError() -> Int32 {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno
  }

  /// epoll's events for the end of a connection: the peer has closed its side, both sides are closed, or an error.
  @inline(__always)
  package static var ends: UInt32 { EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue }

  /// The current ``ends`` of a socket.
  package static func ends(of descriptor: Int32) -> UInt32 {
    var entry = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: EPOLLRDHUP.rawValue), revents: 0)
    // poll and epoll have the same bits. If poll fails, no end is known, and a read will find it.
    return poll(&entry, 1, 0) > 0 ? UInt32(truncatingIfNeeded: entry.revents) & ends : 0
  }

  /// Whether the connection is established.
  var isConnected: Bool {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) } == 0
    }
  }

  @inline(__always)
  package func receive(into buffer: UnsafeMutableRawBufferPointer) -> Outcome { receive(into: buffer, flags: 0) }

  /// Reads without taking the bytes away.
  package func peek(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    receive(into: buffer, flags: Int32(MSG_PEEK))
  }

  @inline(__always)
  private func receive(into buffer: UnsafeMutableRawBufferPointer, flags: Int32) -> Outcome {
    while true {
      let count = recv(descriptor, buffer.baseAddress, buffer.count, flags)
      if count > 0 { return .bytes(count) }
      if count == 0 { return .end }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .wouldBlock
      default: return .failed(errno)
      }
    }
  }

  /// Whether anything has arrived on a connection on which nothing should arrive: bytes, the end of the stream or an
  /// error.
  func hasInput() -> Bool {
    var byte: UInt8 = 0
    if recv(descriptor, &byte, 1, Int32(MSG_PEEK)) >= 0 { return true }
    return errno != EAGAIN && errno != EINTR
  }

  @inline(__always)
  package func send(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    while true {
      let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      if count >= 0 { return .bytes(count) }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .wouldBlock
      default: return .failed(errno)
      }
    }
  }

  /// Sends two buffers in one call.
  func send(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Outcome {
    if second.isEmpty { return send(first) }
    if first.isEmpty { return send(second) }
    return withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { parts in
      parts[0] = iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count)
      parts[1] = iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
      var message = msghdr()
      message.msg_iov = parts.baseAddress
      message.msg_iovlen = 2
      while true {
        let count = sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
        if count >= 0 { return .bytes(count) }
        switch errno {
        case EINTR: continue
        case EAGAIN: return .wouldBlock
        default: return .failed(errno)
        }
      }
    }
  }

  /// Returns the numeric address and port of the peer or of this side; nil for a Unix socket.
  package func address(ofPeer isPeer: Bool) -> ConnectionFacts.Address? {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        let result = isPeer ? getpeername(descriptor, address, &size) : getsockname(descriptor, address, &size)
        guard result == 0, address.pointee.sa_family != AF_UNIX else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST) + Int(NI_MAXSERV)) { text in
          guard let host = text.baseAddress else { return nil }
          let port = host + Int(NI_MAXHOST)
          let flags = NI_NUMERICHOST | NI_NUMERICSERV
          guard getnameinfo(address, size, host, socklen_t(NI_MAXHOST), port, socklen_t(NI_MAXSERV), flags) == 0 else {
            return nil
          }
          return ConnectionFacts.Address(host: String(cString: host), port: Int(String(cString: port)) ?? 0)
        }
      }
    }
  }
}
