import Glibc
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceTransport

/// Events that epoll reports for a closed socket, with the number of a descriptor that another socket has now. The closed
/// socket stays in the epoll set while something else refers to it, such as a child between `fork` and `exec`.
@Suite struct StaleEventTests {
  /// Runs in a separate process, because the new socket must get the number of the closed one.
  @Test func `an event of a closed socket does not end the connection that has its number now`() async throws {
    await #expect(processExitsWith: .success) { try await Self.sendAfterClose() }
  }

  private static func sendAfterClose() async throws {
    let (mayClose, isHead, mayAnswer) = (Signal(), Signal(), Signal())
    let server = try ScriptedServer([
      ScriptStep.respond(body: "1") + [.wait(mayClose), .close],
      [.receiveHead, .signal(isHead), .wait(mayAnswer), .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2")]
        + ScriptStep.respond(body: "3") + [.receiveToEnd],
    ])
    defer { server.stop() }
    let wire = try Wire()
    #expect(try await wire.get(server.baseURL).bodyText == "1")
    let number = try #require(descriptor(ofPeer: server.port))
    let copy = dup(number)
    mayClose.set()
    try await server.waitForScripts()
    await wire.turn { [transport = wire.transport] in transport.idleCount == 0 }
    makeFirst(number)
    let second = Probe()
    wire.start(Request(url: try HTTPURL(server.baseURL)), second)
    try await isHead.wait(for: "the second request")
    #expect(descriptor(ofPeer: server.port) == number)
    shutdown(copy, Int32(SHUT_RDWR))
    await wire.onLoop {}
    mayAnswer.set()
    #expect(try await second.waitForEnd().bodyText == "2")
    let third = try await wire.get(server.baseURL)
    #expect(third.bodyText == "3" && third.timings.isConnectionReused)
    close(copy)
  }

  /// The lowest descriptor of a socket that is connected to the port.
  private static func descriptor(ofPeer port: UInt16) -> Int32? {
    (3..<1024).first { descriptor in
      var address = sockaddr_in()
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
      }
      return result == 0 && address.sin_port == port.bigEndian
    }
  }

  /// Makes the number the lowest one that is free.
  private static func makeFirst(_ number: Int32) {
    while open("/dev/null", O_RDONLY) < number {}
    close(number)
  }
}
