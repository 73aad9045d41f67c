import SluiceTestKit
import Testing

@Suite struct LoopbackTests {
  @Test func `each free port is returned only once`() throws {
    let ports = try (0..<1000).map { _ in try Loopback.freePort() }
    #expect(Set(ports).count == ports.count)
  }
}
