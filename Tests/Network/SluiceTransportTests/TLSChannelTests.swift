import CLinux
import Glibc
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceTransport

/// TLS on a socket, with `openssl s_server` at the other end.
@Suite struct TLSChannelTests {
  /// A reader stops when the channel says that it is drained. If the system still had a record then, no new event would
  /// come for that record, so the reader would miss it.
  @Test func `a channel is not drained while the system has more data`() async throws {
    let certificates = try await TestCertificates.shared()
    let server = try await TLSServer.start(certificates.server, ["-num_tickets", "0"])
    guard let socket = SluiceTransport.StreamSocket(family: AF_INET),
      let address = SocketAddress("127.0.0.1", port: server.port)
    else {
      Issue.record("no socket")
      return
    }
    defer { socket.close() }
    _ = socket.connect(to: address)
    wait(for: POLLOUT, on: socket)
    var settings = TLSSettings()
    settings.ca = certificates.authority
    let context = try TLSContext(settings, offersHTTP2: false)
    let channel = try TLSClientChannel(socket.descriptor, context, TLSSessions(), host: "localhost")
    handshake: while true {
      switch channel.handshake() {
      case .done: break handshake
      case .wouldBlock, .asks: wait(for: POLLIN, on: socket)
      case .failed(let failure):
        Issue.record("\(failure)")
        return
      }
    }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    defer { buffer.deallocate() }

    // The first read takes both of these records from the system at once.
    try await send("x\n", server, to: socket)
    try await send("y\n", server, to: socket)
    #expect(isText(channel.read(into: buffer)), "the first record")
    #expect(!channel.isDrained)
    try await send("z\n", server, to: socket)
    #expect(isText(channel.read(into: buffer)), "the second record")
    #expect(!channel.isDrained)
    #expect(isText(channel.read(into: buffer)), "the third record")
    #expect(channel.isDrained)
  }

  private func isText(_ outcome: SluiceTransport.StreamSocket.Outcome) -> Bool {
    if case .bytes(2) = outcome { true } else { false }
  }

  /// Sends text, and waits until the socket has received at least one byte more than it held before.
  private func send(_ text: String, _ server: TLSServer, to socket: SluiceTransport.StreamSocket) async throws {
    var held: Int32 = 0
    #expect(ioctl(socket.descriptor, UInt(FIONREAD), &held) == 0)
    try server.send(Array(text.utf8))
    // From now on the socket counts as readable only if it has at least one more byte.
    var least = held + 1
    setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVLOWAT, &least, socklen_t(MemoryLayout<Int32>.size))
    wait(for: POLLIN, on: socket)
    least = 1
    setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVLOWAT, &least, socklen_t(MemoryLayout<Int32>.size))
  }

  private func wait(for event: Int32, on socket: SluiceTransport.StreamSocket) {
    var state = pollfd(fd: socket.descriptor, events: Int16(event), revents: 0)
    let count = poll(&state, 1, Int32(Patience.limit.components.seconds * 1000))
    #expect(count == 1)
  }
}
