import Sluice
import Testing

@testable import Tenant

/// Runs the plugin in an engine, without a server.
@Suite struct TenantTests {
  @Test func `a request names the tenant`() async throws {
    var configuration = Configuration()
    configuration.addStage("tenant", StageCode(Tenant.self))
    // Answers in place of a server, with the header that it would have got.
    configuration.addStage(
      "answer",
      StageCode(request: { request, _ in
        request.respond(status: 200).headers["x-got"] = request.headers["x-tenant"]
      }))
    let engine = try Engine(configuration)
    let response = try await engine.perform(Request(url: "http://example.com/"))
    #expect(response.headers["x-got"] == "blue")
    await engine.shutdown()
  }
}
