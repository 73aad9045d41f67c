import Glibc
import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Configurations for places (`sluice.stage/1`). A place is an entry in a list of stages.
@Suite struct PlaceConfigurationTests {
  /// An engine with the fixture, a server that answers 200, and the fixture's log.
  private final class Fixture: Sendable {
    let product: PluginCompiler.Product
    let server: LoopbackServer
    let log = Watched<[String]>([])

    init(flags: String = "0", defines: [String] = []) async throws {
      product = try await PluginCompiler.compile("has-places", defines: ["FLAGS=\(flags)"] + defines)
      chmod(product.path, 0o755)
      server = try LoopbackServer { request in
        request.path == "/redirect"
          ? ServerResponse(status: 302, headers: [HeaderLine("location", "/a")]) : ServerResponse()
      }
    }

    deinit { server.stop() }

    /// - Parameter lists: members of the configuration with the lists.
    func configuration(_ lists: String) throws -> Configuration {
      let text = """
        {"plugins": {"stage": {"library": "\(product.path)"}}, "swap": {"probation": {"duration": "0s"}},
         "transport": {"loops": 2}, \(lists)}
        """
      return try Configuration(text: Array(text.utf8))
    }

    func engine(_ lists: String) throws -> Engine {
      let log = self.log
      return try Engine(configuration(lists)) { line in log.update { $0.append(line.message) } }
    }

    func send(_ path: String = "/a", _ engine: Engine, _ headers: HeaderFields = [:]) async throws -> TransactionResult
    {
      await engine.transaction(Request(url: try HTTPURL(server.baseURL + path), headers: headers))
    }

    func told(_ name: String) -> [String] {
      log.value.filter { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
    }
  }

  private static func place(_ name: String, _ more: String = "") -> String {
    #"{"plugin": "stage", "config": {"name": "\#(name)"\#(more)}}"#
  }

  @Test func `each call gets the configuration of its place, or none if the place has no configuration`() async throws {
    let fixture = try await Fixture()
    let engine = try fixture.engine(
      """
      "request": [\(Self.place("a")), "stage", \(Self.place("b"))], "issue": ["stage", \(Self.place("c"))],
      "response": [\(Self.place("d")), \(Self.place("e")), "stage"], "tracers": ["stage"]
      """)
    let result = try await fixture.send("/a", engine)
    #expect(result.error == nil)
    #expect(result.issuedRequest?.headers["x-places"] == "a-b" && result.response?.headers["x-places"] == "de-")
    #expect(fixture.told("issue") == ["-", "c"] && fixture.told("event") == ["-"])
    // An instance is asked once about a redirect, at its first place.
    _ = try await fixture.send("/redirect", engine)
    #expect(fixture.told("redirect") == ["a"])
    let port = try Loopback.freePort()
    _ = await engine.transaction(Request(url: try HTTPURL("http://127.0.0.1:\(port)/")))
    #expect(fixture.told("failure") == ["d", "e", "-"])
    await engine.shutdown()
    // The places' objects were created before the instance was activated, and released in reverse order before it
    // ended.
    #expect(fixture.told("created") == ["a", "b", "c", "d", "e"])
    #expect(fixture.told("destroyed") == ["e", "d", "c", "b", "a"])
    let order = fixture.log.value.filter { ["created=e", "activated=1", "destroyed=e", "ended=1"].contains($0) }
    #expect(order == ["created=e", "activated=1", "destroyed=e", "ended=1"] && fixture.log.value.last == "ended=1")
  }

  @Test(arguments: ["0", "SLUICE_FLAG_SERIAL", "SLUICE_FLAG_BLOCKING"])
  func `a call keeps its place while it waits, is suspended or blocks`(_ flags: String) async throws {
    let fixture = try await Fixture(flags: flags)
    let engine = try fixture.engine(
      """
      "request": [\(Self.place("a")), \(Self.place("s", #", "suspends": true"#)), "stage", \(Self.place("b"))],
      "response": [\(Self.place("c")), "stage"]
      """)
    let results = await withTaskGroup { group in
      for _ in 0..<40 { group.addTask { try? await fixture.send("/a", engine) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results.allSatisfy { $0?.error == nil && $0?.issuedRequest?.headers["x-places"] == "as-b" })
    #expect(results.allSatisfy { $0?.response?.headers["x-places"] == "c-" })
    if flags != "SLUICE_FLAG_BLOCKING" { #expect(fixture.told("entered") == Array(repeating: "s", count: 40)) }
    await engine.shutdown()
  }

  @Test func `a caller that may not use an exchange cannot get the exchange's place`() async throws {
    let fixture = try await Fixture()
    let engine = try fixture.engine(#""request": [\#(Self.place("a"))]"#)
    _ = try await fixture.send("/a", engine, ["do": "hostile"])
    #expect(fixture.told("null") == ["0"] && fixture.told("forged") == ["0"] && fixture.told("elsewhere") == ["0"])
    await engine.shutdown()
  }

  private static let refused: [(lists: String, words: String)] = [
    (
      #""request": ["stage", {"plugin": "stage", "config": {"name": 1}}]"#,
      #"request[1].config: plugin "stage" at"#
    ),
    (#""request": ["stage", {"plugin": "stage", "config": {"name": 1}}]"#, "request[1].config/name: "),
    (#""issue": [{"plugin": "stage", "config": {"nome": "a"}}]"#, "issue[0].config"),
    (#""response": [{"plugin": "stage", "config": []}]"#, "response[0].config: "),
    (#""request": [\#(place("a")), \#(place("refused"))]"#, "request[1].config: refused it is"),
    (#""request": [\#(place("null"))]"#, "request[0].config: create_stage answered OK but gave no stage"),
    (#""request": ["stage"], "tracers": [\#(place("a"))]"#, "tracers[0].config: a tracer takes no \"config\""),
    (#""request": [{"plugin": "stage", "conf": {}}]"#, "unknown key \"conf\""),
  ]

  @Test(arguments: refused.indices)
  func `an invalid configuration is refused with plugin and place, and created objects are released`(
    _ index: Int
  ) async throws {
    let (lists, words) = Self.refused[index]
    let fixture = try await Fixture()
    let error = #expect(throws: (any Error).self) { _ = try fixture.engine(lists) }
    #expect("\(try #require(error))".contains(words), "\(String(describing: error))")
    #expect(fixture.told("created") == fixture.told("destroyed"))
    #expect(fixture.told("activated").isEmpty)
  }

  @Test(arguments: [
    ("STAGE_SIZE=24", "says that it is 24 bytes long, at least 32 are needed"),
    ("DESTROY=NULL", "has no create_stage and destroy_stage"),
  ])
  func `an incomplete table is refused`(_ define: String, _ words: String) async throws {
    let fixture = try await Fixture(defines: [define])
    let error = #expect(throws: EngineError.self) { try fixture.engine(#""request": ["stage"]"#) }
    #expect("\(try #require(error))".contains(words), "\(String(describing: error))")
  }

  @Test func `file and environment references in the configuration of a place are resolved`() async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write("from-file\n", to: "name")
    let fixture = try await Fixture()
    let engine = try fixture.engine(
      #""request": [{"plugin": "stage", "config": {"name": {"file": "\#(file)"}}}]"#)
    #expect(try await fixture.send("/a", engine).issuedRequest?.headers["x-places"] == "from-file")
    await engine.shutdown()
  }

  @Test func `a configuration for a place is refused for a built-in and for a plugin without the stage table`() throws {
    for plugin in [#""library": "\#(BuiltProducts.library("json-edit"))", "config": {}"#, #""builtin": "metrics""#] {
      let text = #"{"plugins": {"p": {\#(plugin)}}, "request": [{"plugin": "p", "config": {}}]}"#
      let error = #expect(throws: EngineError.self) { try Engine(Configuration(text: Array(text.utf8))) }
      let words = "\(try #require(error))"
      #expect(words.contains("request[0].config") && words.contains("takes no configuration for a place"), "\(words)")
    }
  }

  @Test func `a reload creates an instance again only if the configuration of one of its places has changed`()
    async throws
  {
    let fixture = try await Fixture()
    let engine = try fixture.engine(#""request": [\#(Self.place("a"))]"#)
    // Another place without a configuration does not replace the instance.
    let same = try fixture.configuration(#""request": ["stage", \#(Self.place("a"))]"#)
    #expect(try await engine.reload(same).outcome == .published)
    #expect(try await fixture.send("/a", engine).issuedRequest?.headers["x-places"] == "-a")
    #expect(fixture.told("activated").count == 1)
    let other = try fixture.configuration(#""request": ["stage", \#(Self.place("b"))]"#)
    #expect(try await engine.reload(other).outcome == .published)
    #expect(try await fixture.send("/a", engine).issuedRequest?.headers["x-places"] == "-b")
    #expect(fixture.told("activated").count == 2 && fixture.told("created") == ["a", "b"])
    try await fixture.log.wait(for: "the end of the first") { $0.contains("destroyed=a") }
    // A refused reload changes nothing, and releases the objects that it created for places.
    let bad = try fixture.configuration(#""request": [\#(Self.place("c")), \#(Self.place("refused"))]"#)
    await #expect(throws: SwapError.self) { try await engine.reload(bad) }
    #expect(fixture.told("destroyed") == ["a", "c"])
    #expect(try await fixture.send("/a", engine).issuedRequest?.headers["x-places"] == "-b")
    await engine.shutdown()
    #expect(fixture.told("destroyed") == ["a", "c", "b"])
  }

  @Test func `a place's configuration of static-headers can add to the instance's headers and can replace them`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    let text = """
      {"plugins": {"fixed": {"library": "\(BuiltProducts.library("static-headers"))", "config": {
        "request": {"x-team": "core", "x-tier": "free", "x-debug": "1"}, "response": {"x-via": "sluice"}}}},
       "request": [{"plugin": "fixed", "match": {"paths": ["/paid"]}, "config": {
                      "request": {"x-tier": "paid", "x-region": ["a", "b"], "x-debug": null}}},
                   {"plugin": "fixed", "match": {"paths": ["/free"]}}],
       "response": [{"plugin": "fixed", "config": {"response": {"x-via": "edge"}, "mode": "add"}}]}
      """
    let engine = try Engine(Configuration(text: Array(text.utf8)))
    let paid = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/paid")))
    _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/free")))
    #expect(paid.headers[values: "x-via"] == ["sluice", "edge"])
    let (first, second) = (try #require(server.requests.first), try #require(server.requests.last))
    #expect(first.value(of: "x-team") == "core" && first.value(of: "x-tier") == "paid")
    #expect(first.value(of: "x-debug") == nil && first.value(of: "x-region") == "a")
    #expect(second.value(of: "x-tier") == "free" && second.value(of: "x-debug") == "1")
    #expect(second.value(of: "x-region") == nil)
    await engine.shutdown()
  }
}
