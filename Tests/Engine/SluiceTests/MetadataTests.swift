import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestServers
import Testing

/// Tests the metadata of a result. The metadata depend on how far the transaction came.
@Suite struct MetadataTests {
  private func result(
    _ url: String, _ change: (inout Configuration) -> Void = { _ in }
  ) async throws -> TransactionResult {
    var configuration = Configuration()
    change(&configuration)
    let engine = try Engine(configuration)
    let result = await engine.transaction(Request(url: try HTTPURL(url), headers: ["x-mine": "1"]))
    await engine.shutdown()
    return result
  }

  @Test func `a result has the original and the issued request, and the facts of the response`() async throws {
    let server = try LoopbackServer { _ in ServerResponse.text("hello", type: "Text/Plain; charset=\"utf-8\"") }
    defer { server.stop() }
    let url = server.baseURL + "/a?b=c"
    let result = try await result(url) {
      $0.addStage(
        "sets",
        StageCode(
          request: { request, _ in request.headers["x-stage"] = "2" },
          issue: { request, _ in request.headers["x-hop"] = "3" }))
    }
    #expect(result.originalRequest.headers["x-mine"] == "1")
    #expect(result.originalRequest.headers["x-stage"] == nil)
    let issued = try #require(result.issuedRequest)
    #expect(["x-mine", "x-stage", "x-hop"].map { issued.headers[$0] } == ["1", "2", "3"])
    #expect(issued.method == "GET")
    #expect(result.finalURL?.string == url)
    #expect(result.status == 200)
    #expect(result.mimeType == "text/plain")
    #expect(result.encoding == "utf-8")
    #expect(result.headers?["content-length"] == "5")
    #expect(result.timings?.bytesReceived == 5)
  }

  @Test func `the issued request in the result is the one that the last attempt sent`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await result(server.baseURL + "/a") {
      $0.addStage(
        "again",
        StageCode(
          issue: { request, context in request.headers["x-attempt"] = String(context.attemptNumber) },
          response: { _, context in if context.attemptNumber == 0 { throw RetryRequestError() } }))
    }
    #expect(result.issuedRequest?.headers["x-attempt"] == "1")
    #expect(server.requests.last?.headers.first { $0.name.lowercased() == "x-attempt" }?.value == "1")
  }

  @Test func `if there was no connection, the result has only the original request`() async throws {
    let result = try await result("http://127.0.0.1:1/")
    #expect(result.originalRequest.url.string == "http://127.0.0.1:1/")
    #expect(result.issuedRequest == nil)
    #expect(result.finalURL == nil)
    #expect(result.status == nil)
    #expect(result.headers == nil)
    #expect(result.mimeType == nil)
    #expect(result.encoding == nil)
  }

  @Test func `the result of a response without a Content-Type has no media type`() async throws {
    let result = try await result("http://127.0.0.1:1/") {
      $0.addStage("answers", StageCode(request: { request, _ in request.respond(status: 204) }))
    }
    #expect(result.status == 204)
    #expect(result.mimeType == nil)
    #expect(result.finalURL == nil)
    #expect(result.timings == nil)
  }

  @Test func `the result of a request that a closed engine refuses has the original request`() async throws {
    let engine = try Engine(Configuration())
    await engine.shutdown()
    let result = await engine.transaction(Request(url: HTTPURL("http://127.0.0.1:1/x")))
    #expect(result.originalRequest.url.path == "/x")
    #expect(result.issuedRequest == nil)
    #expect(result.timings == nil)
  }
}
