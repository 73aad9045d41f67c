import SluiceTestKit
import SluiceTestServers
import Testing

@Suite struct LoopbackTests {
  @Test func `each free port is returned only once`() throws {
    let ports = try (0..<1000).map { _ in try Loopback.freePort() }
    #expect(Set(ports).count == ports.count)
  }

  @Test func `a child process inherits no descriptor of a server`() async throws {
    let server = try LoopbackServer()
    let result = try await Command.run("ls", ["/proc/self/fd"])
    // The fourth descriptor is the folder that ls reads.
    #expect(result.outputText == "0\n1\n2\n3\n")
    server.stop()
  }
}
