import Glibc
import Sluice
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Plugins compiled by `cc` only against `include/`, loaded by path, in a real engine against a real server.
@Suite struct OutsidePluginTests {
  /// A compiled fixture, and an engine that has it in the given lists.
  private struct Setup {
    let product: PluginCompiler.Product
    let engine: Engine

    init(_ behaviour: String, defines: [String] = [], lists: [String], deadline: String = "20s") async throws {
      product = try await PluginCompiler.compile(behaviour, defines: defines)
      // The engine refuses a plugin that others can write, so the mode must not depend on the umask.
      chmod(product.path, 0o755)
      let places = lists.map { "\"\($0)\": [\"stage\"]" }.joined(separator: ", ")
      let text = """
        {"plugins": {"stage": {"library": "\(product.path)", "deadline": "\(deadline)"}}, \(places),
         "transport": {"loops": 2}}
        """
      engine = try Engine(Configuration(text: Array(text.utf8)))
    }
  }

  @Test func `a C plugin changes request and response natively and through the document`() async throws {
    let server = try LoopbackServer { request in
      ServerResponse(
        headers: [HeaderLine("content-type", "application/json")], body: .bytes(request.body))
    }
    defer { server.stop() }
    let setup = try await Setup("edits-documents", lists: ["request", "response"])
    let response = try await setup.engine.perform(
      Request(
        method: "POST", url: HTTPURL(server.baseURL + "/"), headers: ["content-type": "application/json"],
        body: .text(#"{"a": 1}"#)))
    let sent = try #require(server.requests.first)
    #expect(sent.method == "PATCH")
    #expect(sent.value(of: "x-native") == "yes")
    #expect(sent.value(of: "x-document") == "yes")
    #expect(try JSONValue(parsing: sent.body) == ["a": 1, "b": 2])
    #expect(response.status == 202)
    #expect(try JSONValue(parsing: response.body.bytes ?? []) == ["a": 1, "b": 2, "seen": true])
    await setup.engine.shutdown()
  }

  @Test func `a C stage that resumes from another thread can then change headers, on every loop`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    let setup = try await Setup("resumes-elsewhere", lists: ["request"])
    let url = try HTTPURL(server.baseURL + "/")
    let engine = setup.engine
    let failures = await withTaskGroup { group in
      for _ in 0..<200 { group.addTask { await engine.transaction(Request(url: url)).error } }
      return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
    }
    #expect(failures.isEmpty, "\(failures)")
    #expect(server.requests.count == 200)
    #expect(server.requests.allSatisfy { $0.value(of: "x-late") == "yes" && $0.value(of: "x-after") == nil })
    await engine.shutdown()
  }

  @Test func `a C stage that never resumes is ended by its deadline, and nothing is sent`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let setup = try await Setup("resumes-elsewhere", defines: ["NEVER=1"], lists: ["request"], deadline: "20ms")
    let result = try await setup.engine.transaction(Request(url: HTTPURL(server.baseURL + "/")))
    #expect(result.error?.code == "stage_timeout")
    #expect(result.error?.stage == "stage")
    #expect(server.requestCount == 0)
    await setup.engine.shutdown()
  }
}
