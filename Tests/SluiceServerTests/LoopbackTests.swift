import SluiceTestKit
import Testing

@Suite struct LoopbackTests {
  @Test func `a free port is returned once`() throws {
    let ports = try (0..<1000).map { _ in try Loopback.freePort() }
    #expect(Set(ports).count == ports.count)
  }
}
