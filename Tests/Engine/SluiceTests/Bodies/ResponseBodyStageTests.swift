import Glibc
import Sluice
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// C plugins and the body of a response, in a real engine over real sockets.
@Suite struct ResponseBodyStageTests {
  /// Compiled fixtures in an engine, in the order of the list.
  private struct Setup {
    let products: [PluginCompiler.Product]
    let engine: Engine
    let log: Watched<[String]>

    init(_ plugins: [(behaviour: String, defines: [String])], lists: [String] = ["response"]) async throws {
      var products: [PluginCompiler.Product] = []
      for plugin in plugins {
        let product = try await PluginCompiler.compile(plugin.behaviour, defines: plugin.defines)
        // The engine refuses a plugin that others can write, so the mode must not depend on the umask.
        chmod(product.path, 0o755)
        products.append(product)
      }
      self.products = products
      let libraries = products.indices.map { "\"stage-\($0)\": {\"library\": \"\(products[$0].path)\"}" }
      let names = products.indices.map { "\"stage-\($0)\"" }.joined(separator: ", ")
      let places = lists.map { "\"\($0)\": [\(names)]" }.joined(separator: ", ")
      let text = """
        {"plugins": {\(libraries.joined(separator: ", "))}, \(places), "transport": {"loops": 1}}
        """
      let log = Watched<[String]>([])
      self.log = log
      engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line.message) } }
    }

    func run(_ server: ScriptedServer, sink: (any BodySink)? = nil) async throws -> TransactionResult {
      defer { server.stop() }
      let request = Request(url: try HTTPURL(server.baseURL + "/"))
      let result = await withCheckedContinuation { continuation in
        engine.submit(request, sink: sink) { continuation.resume(returning: $0) }
      }
      await engine.shutdown()
      return result
    }

    func told(_ name: String) -> [String] {
      log.value.filter { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
    }
  }

  private static func chunkedServer() throws -> ScriptedServer {
    try ScriptedServer(
      .receiveHead,
      .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nsecret\r\n0\r\nX-Wire: yes\r\n\r\n"))
  }

  private static func text(_ result: TransactionResult) -> String? {
    result.response?.body.bytes.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: ["RESPOND", "SET_EMPTY", "DOCUMENT"], [false, true])
  func `if a stage replaces the wire's body by an empty one, no byte of the wire's body gets through`(
    how: String, isStreamed: Bool
  ) async throws {
    let setup = try await Setup([("replaces-bodies", ["HOW=\(how)"])])
    let sink = TextSink()
    let result = try await setup.run(Self.chunkedServer(), sink: isStreamed ? sink : nil)
    #expect(result.error == nil)
    #expect(result.response?.status == (how == "RESPOND" ? 203 : 200))
    #expect(Self.text(result) == "")
    #expect(result.response?.trailers.isEmpty == true)
    #expect(sink.text.value.isEmpty)
  }

  @Test func `a stage that answers RESPOND after changing only the headers keeps the wire's body`() async throws {
    let setup = try await Setup([("replaces-bodies", ["HOW=HEADER_ALONE"])])
    let result = try await setup.run(Self.chunkedServer())
    #expect(result.error == nil)
    #expect(result.response?.headers["x-seen"] == "yes")
    #expect(Self.text(result) == "secret")
    #expect(result.response?.trailers["x-wire"] == "yes")
  }

  @Test func `if a stage suspends on the only piece of a body, its later output replaces the piece`() async throws {
    let setup = try await Setup([("suspends-pieces", [])])
    let result = try await setup.run(ScriptedServer([ScriptStep.respond(body: "short")]))
    #expect(result.error == nil)
    #expect(Self.text(result) == "<late>")
    #expect(setup.told("late") == ["0"])
    #expect(setup.told("resume") == ["0"])
    #expect(setup.told("cancel").isEmpty)
  }

  @Test func `a stage can suspend on the bytes that another stage adds at the end`() async throws {
    let setup = try await Setup([("changes-pieces", []), ("suspends-pieces", ["ONLY='.'"])])
    let result = try await setup.run(ScriptedServer([ScriptStep.respond(body: "short")]))
    #expect(result.error == nil)
    #expect(Self.text(result) == "SHORT<late>")
    #expect(setup.told("resume") == ["0"])
  }

  @Test func `two stages suspend on one piece`() async throws {
    let setup = try await Setup([("suspends-pieces", []), ("suspends-pieces", [])])
    let result = try await setup.run(ScriptedServer([ScriptStep.respond(body: "short")]))
    #expect(result.error == nil)
    #expect(Self.text(result) == "<late>")
    #expect(setup.told("late") == ["0", "0"])
    #expect(setup.told("resume") == ["0", "0"])
  }

  @Test func `a stage that suspends on a piece and never resumes is cancelled when the transaction ends`() async throws
  {
    let setup = try await Setup([("suspends-pieces", ["NEVER=1"])])
    let server = try ScriptedServer([ScriptStep.respond(body: "short")])
    defer { server.stop() }
    var request = Request(url: try HTTPURL(server.baseURL + "/"))
    request.timeout = .milliseconds(50)
    let result = await setup.engine.transaction(request)
    await setup.engine.shutdown()
    #expect(result.error?.code == "deadline")
    #expect(setup.told("cancel") == ["1"])
  }

  @Test(arguments: [false, true])
  func `if a stage reads a response before its body has arrived, every stage still sees the body`(
    writes: Bool
  ) async throws {
    let setup = try await Setup([("looks-early", ["WRITE=\(writes ? 1 : 0)"])], lists: ["request", "response"])
    let server = try ScriptedServer(
      .receiveHead,
      .send("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 2\r\n\r\nno"))
    let result = try await setup.run(server)
    #expect(setup.told("early") == ["0"])
    #expect(setup.told("body") == ["1"])
    #expect(result.response?.status == (writes ? 203 : 401))
    #expect(Self.text(result) == "no")
  }

  @Test func `if a document names a file of an impossible size, the body counts as empty`() async throws {
    let setup = try await Setup([("looks-early", [])], lists: ["request"])
    let result = try await setup.run(ScriptedServer([ScriptStep.respond(body: "ok")]))
    #expect(result.error == nil)
    #expect(setup.told("file") == ["0"])
    #expect(setup.told("bytes") == ["0"])
  }
}
