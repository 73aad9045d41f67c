import Glibc
import Sluice
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestPipeline
import SluiceTestServers
import Testing

/// A stage gets the whole bodies of some transactions, and all other transactions stream.
@Suite struct WantedBodyTests {
  private struct Setup {
    let engine: Engine
    let server: LoopbackServer
    let log = Watched<[String]>([])
    private let product: PluginCompiler.Product

    /// - Parameter stages: the lists of the configuration, which must name the stage "stage".
    init(_ behaviour: String, defines: [String] = [], stages: String) async throws {
      product = try await PluginCompiler.compile(behaviour, defines: defines)
      chmod(product.path, 0o755)
      server = try LoopbackServer { _ in .text("answer") }
      let text = """
        {"plugins": {"stage": {"library": "\(product.path)"}}, \(stages), "transport": {"loops": 1}}
        """
      engine = try Engine(Configuration(text: Array(text.utf8))) { [log] line in log.update { $0.append(line.message) }
      }
    }

    func run(_ path: String, body: Body = .empty) async throws -> (result: TransactionResult, streamed: String) {
      let sink = TextSink()
      let request = Request(method: "PUT", url: try HTTPURL(server.baseURL + path), body: body)
      let result = await withCheckedContinuation { continuation in
        engine.submit(request, sink: sink) { continuation.resume(returning: $0) }
      }
      return (result, sink.text.value)
    }

    func told(_ name: String) -> [String] {
      log.value.filter { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
    }

    func end() async {
      await engine.shutdown()
      server.stop()
    }
  }

  private static func text(_ result: TransactionResult) -> String? {
    result.response?.body.bytes.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `if a stage's match excludes a request, its response still streams`() async throws {
    let setup = try await Setup(
      "marks-bodies", defines: ["KIND=WHOLE", "SIDE_IS_REQUEST=0"],
      stages: #""response": [{"plugin": "stage", "match": {"paths": ["/whole"]}}]"#)
    #expect(try await setup.run("/other").streamed == "answer")
    let whole = try await setup.run("/whole")
    #expect(whole.streamed.isEmpty)
    #expect(Self.text(whole.result) == "answer|stage")
    await setup.end()
  }

  @Test func `a stage asks for the bodies of one transaction, and all others stream`() async throws {
    let setup = try await Setup("asks-for-bodies", stages: #""request": ["stage"], "response": ["stage"]"#)
    #expect(try await setup.run("/other", body: .stream(PieceStream.make([[65], [], [66]]))).streamed == "answer")
    #expect(setup.told("request") == ["(streamed)"])
    #expect(setup.told("response") == ["(none)"])
    let asked = try await setup.run("/ask", body: .stream(PieceStream.make([[65], [], [66]])))
    #expect(asked.result.error == nil)
    #expect(Self.text(asked.result) == "answer")
    // The stage was called again when the body was complete.
    #expect(setup.told("request") == ["(streamed)", "(streamed)", "AB"])
    #expect(setup.told("response") == ["(none)", "answer"])
    #expect(setup.told("ask-request") == ["0", "0"])
    // A stage that asks for a body in on_response is refused.
    #expect(setup.told("late-ask") == ["-2", "-2"])
    #expect(setup.server.requests.map(\.body) == [Array("AB".utf8), Array("AB".utf8)])
    await setup.end()
  }

  @Test func `a stage that asks for an available body is called once`() async throws {
    let setup = try await Setup("asks-for-bodies", stages: #""request": ["stage"], "response": ["stage"]"#)
    #expect(try await setup.run("/ask", body: .text("AB")).result.error == nil)
    #expect(setup.told("request") == ["AB"])
    await setup.end()
  }
}
