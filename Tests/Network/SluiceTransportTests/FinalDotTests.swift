@testable import SluiceLoop
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// A host with a final dot: a part of the name for the look-up, and of no meaning for the origin.
@Suite struct FinalDotTests {
  @Test func `a name is looked up with its final dot, and each form has its own connections`() async throws {
    let asked = Watched<[String]>([])
    let resolver = NameResolver { name in
      asked.update { $0.append(name) }
      // The server does not listen at the other address.
      return .success([name.hasSuffix(".") ? "127.0.0.1" : "127.0.0.9"])
    }
    let server = try LoopbackServer()
    defer { server.stop() }
    let wire = try Wire(resolver: resolver)
    for _ in 0..<2 {
      #expect(try await wire.get("http://Name.test.:\(server.port)/").head?.status == 200)
      #expect(try await wire.get("http://name.test:\(server.port)/").code == .connect)
    }
    #expect(Set(asked.value) == ["name.test.", "name.test"])
    #expect(server.requestCount == 2)
  }
}
