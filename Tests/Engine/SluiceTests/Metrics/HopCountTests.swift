import Sluice
import SluiceConfiguration
import SluiceMetrics
import SluiceTestKit
import Testing

@Suite struct HopCountTests {
  @Test(arguments: [(TransportEngine.auto, 0), (.wire, 0), (.curl, 2)] as [(TransportEngine, UInt64)])
  func `the metrics count hops over libcurl separately`(_ transport: TransportEngine, _ expected: UInt64) async throws {
    let server = try ScriptedServer([ScriptStep.respond(body: "1") + ScriptStep.respond(body: "2")])
    var configuration = Configuration()
    configuration.transport.engine = transport
    let engine = try Engine(configuration)
    for _ in 0..<2 { _ = try await engine.perform(Request(url: try HTTPURL(server.baseURL + "/a"))) }
    #expect(engine.metrics().hops == 2)
    #expect(engine.metrics().hopsOverCurl == expected)
    await engine.shutdown()
  }
}
