import Glibc
import Sluice
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// A plugin for revision 1 of the ABI works with this engine. The plugin uses every table and function of that
/// revision. The tests run two builds of it: the library in the repository, which was built against revision 1, and a
/// new build of the same source.
@Suite struct RevisionOneTests {
  enum Build: CaseIterable {
    case then
    case now
  }

  /// An engine with the plugin in every list, and the lines that the plugin logs.
  private struct Setup {
    let engine: Engine
    let log: Watched<[String]>
    private let path: String
    private let folder: TemporaryDirectory

    init(_ build: Build) async throws {
      folder = try TemporaryDirectory()
      path = folder.path("librevision-1.so")
      let product = build == .now ? try await PluginCompiler.compile("revision-1") : nil
      // `install` sets the mode, because the mode of a file in a checkout depends on the user's umask.
      let source = product?.path ?? RepositoryRoot.path("Tests/Fixtures/Plugins/revision-1/plugin-x86_64.so")
      try await Command.check("install", ["-m", "755", source, path])
      let text = """
        {"plugins": {"one": {"library": "\(path)", "config": {"user": "me"}}},
         "request": ["one"], "issue": ["one"], "response": ["one"], "tracers": ["one"], "transport": {"loops": 1}}
        """
      let log = Watched<[String]>([])
      self.log = log
      engine = try Engine(Configuration(text: Array(text.utf8))) { line in
        if line.stage == "one" { log.update { $0.append(line.message) } }
      }
    }

    /// Replaces the plugin's file by another build.
    func rebuild() async throws {
      let other = try await PluginCompiler.compile("revision-1", flags: ["-O1"])
      try await Command.check("install", ["-m", "755", other.path, path + ".new"])
      try await Command.check("mv", [path + ".new", path])
    }

    /// Sends a request that tells the plugin what to do.
    func send(_ what: String, _ url: String, _ more: HeaderFields = [:], body: Body = .empty) async throws
      -> TransactionResult
    {
      var request = Request(method: body.isEmpty ? "GET" : "POST", url: try HTTPURL(url), headers: more, body: body)
      request.headers["x-do"] = what
      return await engine.transaction(request)
    }
  }

  private static var builds: [Build] {
    #if arch(x86_64)
      Build.allCases
    #else
      [.now]
    #endif
  }

  /// What the plugin wrote about a message into its headers `x-told`.
  private static func told(_ request: ServerRequest?) -> [String] {
    request?.headers.filter { $0.name.lowercased() == "x-told" }.map(\.value) ?? []
  }

  private static func told(_ response: Response?) -> [String] {
    response?.headers[values: "x-told"] ?? []
  }

  @Test(arguments: builds)
  func `the plugin describes, changes, answers and fails requests`(_ build: Build) async throws {
    let setup = try await Setup(build)
    let server = try LoopbackServer { _ in .text("hello") }
    defer { server.stop() }
    let url = server.baseURL + "/a"
    let described = try await setup.send("describe", url, ["x-first": "1"], body: .text("text"))
    #expect(
      Self.told(server.requests.first) == [
        "attempt=0", "hop=0", "path=/a", "bounded=1", "method=POST", "url=1", "first=x-first", "status=0", "body=text",
        "file=1", "document=POST", "may=0", "may-not=-2",
      ])
    #expect(described.response?.body.bytes == Array("[hello].".utf8))
    #expect(described.response?.trailers["x-trailer"] == "added")
    #expect(described.response?.headers["x-document"] == "written")
    #expect(Self.told(described.response) == ["issued=yes", "attempt=0", "hints=0", "redirects=0"])

    _ = try await setup.send("change", url, ["x-drop": "1"])
    let changed = server.requests.last
    #expect(changed?.method == "PUT" && changed?.target == "/a?changed" && changed?.body == Array("changed".utf8))
    #expect(changed?.value(of: "x-secret") == "s3cret" && changed?.value(of: "x-drop") == nil)
    #expect(changed?.value(of: "x-issued") == "yes")

    let folder = try TemporaryDirectory()
    _ = try await setup.send("file", url, ["x-path": try folder.write("in a file", to: "body")], body: .text("other"))
    #expect(server.requests.last?.body == Array("in a file".utf8))

    let made = try await setup.send("respond", url)
    #expect(made.response?.status == 207 && made.response?.body.bytes == Array("[made here].".utf8))
    let failed = try await setup.send("fail", url)
    #expect(failed.error?.code == "by_order" && failed.error?.message.contains("it was asked to") == true)
    #expect(server.requestCount == 3)
    await setup.engine.shutdown()
  }

  @Test(arguments: builds)
  func `suspended calls continue after a post, a timer or a call-out, and a call that never continues is ended`(
    _ build: Build
  ) async throws {
    let setup = try await Setup(build)
    let server = try LoopbackServer()
    defer { server.stop() }
    for what in ["post", "wait"] {
      let result = try await setup.send(what, server.baseURL)
      #expect(result.error == nil)
      #expect(Self.told(server.requests.last) == ["entered=1"])
    }
    _ = try await setup.send("call", server.baseURL, ["x-url": server.baseURL + "/other"])
    #expect(Self.told(server.requests.last) == ["called=200"])
    var request = Request(url: try HTTPURL(server.baseURL))
    request.headers["x-do"] = "hang"
    request.timeout = .milliseconds(100)
    #expect(await setup.engine.transaction(request).error?.code == .deadline)
    let metric = setup.engine.metricsDocument()["plugins"]?["metrics"]?[0]
    #expect(metric?["name"] == "requests" && metric?["series"]?[3] != nil)
    await setup.engine.shutdown()
  }

  @Test(arguments: builds)
  func `the plugin gets hops, retries, challenges, failures and early hints`(_ build: Build) async throws {
    let setup = try await Setup(build)
    let unavailable = Watched(1)
    let server = try LoopbackServer { request in
      switch request.path {
      case "/redirect": return ServerResponse(status: 307, headers: [HeaderLine("Location", "/")])
      case "/challenge" where request.value(of: "authorization") == nil:
        return ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Basic realm=\"r\"")])
      case "/unavailable":
        let isLeft = unavailable.update { left in
          left -= 1
          return left >= 0
        }
        return isLeft ? ServerResponse(status: 503) : .text("ok")
      default: return .text("ok")
      }
    }
    defer { server.stop() }
    let redirected = try await setup.send("", server.baseURL + "/redirect", body: .text("kept"))
    #expect(Self.told(redirected.response).contains("redirects=1"))
    #expect(server.requests.last?.body == Array("kept".utf8))
    let challenged = try await setup.send("", server.baseURL + "/challenge")
    #expect(challenged.response?.status == 200)
    #expect(server.requests.last?.value(of: "authorization") == "Basic bWU6cGFzc3dvcmQ=")
    let retried = try await setup.send("", server.baseURL + "/unavailable")
    #expect(Self.told(retried.response).contains("attempt=1"))
    let refused = try await setup.send("", "http://127.0.0.1:\(try Loopback.freePort())")
    #expect(refused.response?.status == 502 && Self.told(refused.response) == ["failure=connect"])
    let hints = try ScriptedServer(
      .receiveRequest,
      .send(
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
          + "Trailer: X-Drop, X-Keep\r\n\r\n2\r\nok\r\n0\r\nX-Drop: 1\r\nX-Keep: 2\r\n\r\n"))
    let hinted = try await setup.send("", hints.baseURL)
    #expect(Self.told(hinted.response).contains("hints=1"))
    #expect(hinted.response?.trailers["x-keep"] == "2" && hinted.response?.trailers["x-drop"] == nil)
    await setup.engine.shutdown()
    let events = setup.log.value.filter { $0.hasPrefix("event ") }
    #expect(
      events.prefix(6) == [
        "event 3/0/0/0", "event 4/0/307/0 timings", "event 12/0/307/0 timings", "event 3/1/0/0",
        "event 4/1/200/0 timings",
        "event 12/1/200/0 timings",
      ])
    #expect(events.count { $0.contains("event 8/") } == 5 && !events.contains { $0.contains("incomplete") })
  }

  @Test(arguments: builds)
  func `state, values, schedules and notifications outlive a swap`(_ build: Build) async throws {
    let setup = try await Setup(build)
    let server = try LoopbackServer()
    defer { server.stop() }
    for _ in 0..<3 { _ = try await setup.send("", server.baseURL) }
    try await setup.log.wait(for: "the schedule") { $0.contains("due: tick") }
    #expect(await setup.engine.notify(topic: "count", payload: 3).outcome == .ended(.newData))
    #expect(await setup.engine.notify(topic: "count", payload: 4).outcome == .ended(.failed))
    #expect(await setup.engine.notify(topic: "other", payload: 3).outcome == .notTaken)
    try await setup.rebuild()
    _ = try await setup.engine.swap()
    #expect(await setup.engine.notify(topic: "count", payload: 3).outcome == .ended(.newData))
    await setup.engine.shutdown()
    let activations = setup.log.value.filter { $0.hasPrefix("activation") }
    #expect(
      activations == [
        "activation 1 of one in revision 1, count 0, clock", "activation 2 of one in revision 1, count 3, clock",
      ])
    #expect(setup.log.value.count { $0 == "deactivated" } == 2)
  }

  #if arch(x86_64)
    @Test func `the repository still has the library that was built against revision 1`() async throws {
      let path = RepositoryRoot.path("Tests/Fixtures/Plugins/revision-1/plugin-x86_64.so")
      let sum = try await Command.check("sha256sum", [path]).outputText.prefix(64)
      #expect(sum == "4070c620090a914c2432455b80168dfe9f9fc0bae9612ceea99f580fbff1341d")
    }
  #endif
}
