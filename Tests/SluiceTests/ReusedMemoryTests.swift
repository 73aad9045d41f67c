import Glibc
import Sluice
import SluiceMessages
import SluiceServer
import SluiceTestKit
import Testing

/// Results that are kept while later transactions use the memory of ended ones.
@Suite struct ReusedMemoryTests {
  @Test func `the release of a body can submit another request`() async throws {
    let server = try LoopbackServer { request in
      request.method == "POST"
        ? ServerResponse(status: 303, headers: [HeaderLine("location", "/found")]) : ServerResponse()
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let path = try folder.write("abc", to: "body")
    let engine = try Engine(Configuration())
    let url = try HTTPURL(server.baseURL + "/")
    let results = Watched<[Int?]>([])
    let body = FileBody(path: path, byteCount: 3) {
      engine.submit(Request(url: url)) { result in results.update { $0.append(result.response?.status) } }
    }
    engine.submit(Request(method: "POST", url: url, body: .file(body))) { result in
      results.update { $0.append(result.response?.status) }
    }
    _ = consume body
    let statuses = try await results.wait(for: "both results") { $0.count == 2 }
    #expect(statuses == [200, 200])
    await engine.shutdown()
  }

  @Test func `a kept result stays as it is while later transactions run`() async throws {
    let product = try await PluginCompiler.compile("has-places", defines: ["FLAGS=0"])
    chmod(product.path, 0o755)
    let server = try LoopbackServer { request in
      ServerResponse.text(String(request.path.dropFirst()), type: "text/plain")
    }
    defer { server.stop() }
    let engine = try Engine(
      Configuration(
        text: Array(
          """
          {"plugins": {
            "stage": {"library": "\(product.path)"},
            "headers": {"builtin": "headers", "config": {"hosts": ["127.0.0.1"]}}},
           "swap": {"probation": {"duration": "0s"}},
           "request": [{"plugin": "stage", "config": {"name": "a"}}],
           "issue": ["headers"], "response": [{"plugin": "stage", "config": {"name": "b"}}]}
          """.utf8)))
    let kept = try await withThrowingTaskGroup(of: [(Int, TransactionResult)].self) { group in
      for sender in 0..<8 {
        group.addTask {
          var kept: [(Int, TransactionResult)] = []
          for turn in 0..<60 {
            let number = sender * 1000 + turn
            let url = try HTTPURL("\(server.baseURL)/\(number)")
            let result = await engine.transaction(Request(url: url, headers: ["x-number": "\(number)"]))
            if turn.isMultiple(of: 3) { kept.append((number, result)) }
          }
          return kept
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    await engine.shutdown()
    #expect(kept.count == 160 && Set(kept.map(\.1.id)).count == 160)
    // The fields that the last hop sent have a trace of their own.
    #expect(Set(kept.compactMap { $0.1.issuedRequest?.headers["traceparent"] }).count == 160)
    for (number, result) in kept {
      #expect(result.error == nil && result.attempts == 1 && result.originalRequest.url.path == "/\(number)")
      #expect(result.originalRequest.headers == ["x-number": "\(number)"])
      #expect(result.issuedRequest?.headers["x-number"] == "\(number)")
      #expect(result.issuedRequest?.headers["x-places"] == "a")
      #expect(result.response?.headers["x-places"] == "b")
      #expect(result.response?.body.bytes.map { String(decoding: $0, as: UTF8.self) } == "\(number)")
      #expect(result.timings?.bytesReceived == String(number).utf8.count)
    }
  }
}
