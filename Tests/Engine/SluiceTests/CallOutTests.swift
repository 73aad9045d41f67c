import Glibc
import Sluice
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// `sluice.callout/1` in a real engine, from plugins in C and Swift, over real sockets.
@Suite struct CallOutTests {
  /// An engine with a stage that makes call-outs, a server for the engine's requests, and a server for the call-outs.
  private struct Setup {
    let origin: LoopbackServer
    let target: LoopbackServer
    let engine: Engine
    let log: Watched<[String]>
    private let product: PluginCompiler.Product?

    init(
      _ behaviour: String, _ defines: [String] = [], lists: [String] = ["request"], loops: Int = 1,
      target handler: @escaping EmbeddedServer.Handler = { _ in .text("found") }
    ) async throws {
      origin = try LoopbackServer()
      target = try LoopbackServer(handler: handler)
      let path: String
      if behaviour == "calls-in-swift" {
        product = nil
        path = BuiltProducts.library(behaviour)
      } else {
        let made = try await PluginCompiler.compile(behaviour, defines: defines)
        chmod(made.path, 0o755)
        product = made
        path = made.path
      }
      let places = lists.map { "\"\($0)\": [\"stage\"]" }.joined(separator: ", ")
      let text = """
        {"plugins": {"stage": {"library": "\(path)"}}, \(places), "deadline": "10m", "transport": {"loops": \(loops), "timeout": "10m"}}
        """
      let log = Watched<[String]>([])
      self.log = log
      engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line.message) } }
    }

    func request(_ target: String? = nil, _ headers: HeaderFields = [:], timeout: Duration? = nil) throws -> Request {
      var headers = headers
      headers["x-target"] = target ?? self.target.baseURL + "/ask"
      var request = Request(url: try HTTPURL(origin.baseURL + "/"), headers: headers)
      request.timeout = timeout
      return request
    }

    /// The values that the plugin logged under a name, in order.
    func told(_ name: String) -> [String] { Self.told(name, log.value) }

    private static func told(_ name: String, _ log: [String]) -> [String] {
      log.filter { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
    }

    func wait(for name: String, count: Int = 1) async throws {
      try await log.wait(for: "\(count) × \(name)") { Self.told(name, $0).count >= count }
    }

    func stop() async {
      await engine.shutdown(drain: .zero)
      origin.stop()
      target.stop()
    }
  }

  @Test func `a call-out runs no stages and completes once, on its parent's loop, where enter works`()
    async throws
  {
    let setup = try await Setup("calls-out", loops: 2)
    let (engine, request) = (setup.engine, try setup.request())
    let failures = await withTaskGroup { group in
      for _ in 0..<100 { group.addTask { await engine.transaction(request).error } }
      return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
    }
    #expect(failures.isEmpty, "\(failures)")
    #expect(setup.told("called").count == 100)
    #expect(setup.told("completed") == Array(repeating: "1", count: 100))
    #expect(setup.told("entered") == Array(repeating: "1", count: 100))
    #expect(setup.told("body") == Array(repeating: "found", count: 100))
    #expect(setup.target.requests.count == 100)
    #expect(setup.target.requests.allSatisfy { $0.value(of: "x-from") == "stage" && $0.path == "/ask" })
    #expect(setup.origin.requests.allSatisfy { $0.value(of: "x-called") == "200" })
    await setup.stop()
    #expect(setup.told("open-at-destroy") == ["0"])
  }

  @Test func `a call-out can be started on a thread of the plugin, with and without a parent`() async throws {
    for defines in [["THREAD=1"], ["THREAD=1", "PARENT=0"]] {
      let setup = try await Setup("calls-out", defines)
      _ = try await setup.engine.perform(setup.request())
      #expect(setup.told("completed") == ["1"])
      // A call-out without a parent may use another loop, but this engine has only one.
      #expect(setup.told("entered") == ["1"])
      #expect(setup.origin.requests.first?.value(of: "x-called") == "200")
      await setup.stop()
    }
  }

  @Test func `a call-out is cancelled when its parent ends, and still completes`() async throws {
    let setup = try await Setup("calls-out")
    setup.target.hold()
    let cancellation = Cancellation()
    let result = Watched<TransactionResult?>(nil)
    setup.engine.submit(try setup.request(), cancellation: cancellation) { end in result.update { $0 = end } }
    try await setup.target.waitForHeld(1)
    cancellation.cancel()
    #expect(try await result.wait { $0 != nil }?.error?.code == "cancelled")
    try await setup.wait(for: "resume")
    #expect(setup.told("on-cancel") == ["1"])
    #expect(setup.told("completed") == ["0"])
    #expect(setup.told("code") == ["cancelled"])
    #expect(setup.told("entered") == ["0"])
    #expect(setup.told("resume") == ["3"], "stale")
    await setup.stop()
  }

  @Test func `a call-out whose parent was resumed early is cancelled when the transaction ends`() async throws {
    let setup = try await Setup("calls-out", ["EARLY=1"])
    setup.target.hold()
    // The transaction cannot end before the call-out has arrived, so there is a call-out to cancel.
    setup.origin.hold()
    let (engine, request) = (setup.engine, try setup.request())
    let transaction = Task { await engine.transaction(request) }
    try await setup.target.waitForHeld(1)
    setup.origin.release()
    #expect(await transaction.value.error == nil)
    try await setup.wait(for: "resume")
    #expect(setup.told("early") == ["0"])
    #expect(setup.told("code") == ["cancelled"])
    await setup.stop()
  }

  @Test func `a call-out ends at the deadline of its parent, even if its own timeout is longer`() async throws {
    let setup = try await Setup("calls-out", ["TIMEOUT=3600000000000"])
    setup.target.hold()
    let result = try await setup.engine.transaction(setup.request(timeout: .milliseconds(100)))
    // The transaction and the call-out reach the deadline at the same moment, and either can end first.
    if let error = result.error { #expect(error.code == "deadline") }
    try await setup.wait(for: "resume")
    let code = try #require(setup.told("code").first)
    #expect(["timeout", "cancelled"].contains(code))
    #expect(setup.told("completed") == ["0"])
    await setup.stop()
  }

  @Test func `a call-out ends at its own timeout, and the transaction continues`() async throws {
    let setup = try await Setup("calls-out", ["TIMEOUT=20000000"])
    setup.target.hold()
    _ = try await setup.engine.perform(setup.request())
    #expect(setup.told("code") == ["timeout"])
    #expect(setup.told("entered") == ["1"])
    #expect(setup.origin.requestCount == 1)
    await setup.stop()
  }

  @Test func `a call-out to a host that cannot be resolved fails with the code dns`() async throws {
    let setup = try await Setup("calls-out")
    _ = try await setup.engine.perform(setup.request("http://nowhere.invalid/"))
    #expect(setup.told("completed") == ["0"])
    #expect(setup.told("code") == ["dns"])
    await setup.stop()
  }

  @Test func `a response that exceeds the call's limit or the host's limit fails the call`() async throws {
    for (defines, size) in [(["MAXIMUM=1000"], 1001), ([], 1_048_577)] {
      let setup = try await Setup(
        "calls-out", defines, target: { _ in ServerResponse(body: .bytes([UInt8](repeating: 97, count: size))) })
      _ = try await setup.engine.perform(setup.request())
      #expect(setup.told("code") == ["response_too_large"])
      await setup.stop()
    }
  }

  @Test func `call-outs do not follow redirects`() async throws {
    let setup = try await Setup(
      "calls-out", target: { _ in ServerResponse(status: 302, headers: [HeaderLine("Location", "/elsewhere")]) })
    _ = try await setup.engine.perform(setup.request())
    #expect(setup.told("status") == ["302"])
    #expect(setup.target.requestCount == 1)
    await setup.stop()
  }

  @Test func `a call-out with a forged parent is refused as stale, and nothing is sent`() async throws {
    let setup = try await Setup("calls-out", ["FORGED=1"])
    _ = try await setup.engine.perform(setup.request())
    #expect(setup.told("start") == ["3"])
    #expect(setup.told("completed").isEmpty)
    #expect(setup.target.requestCount == 0)
    await setup.stop()
  }

  @Test func `a cancelled call completes once as cancelled, and cancelling it after its end returns stale`()
    async throws
  {
    let setup = try await Setup("cancels-calls", lists: ["request", "response"])
    setup.target.hold()
    _ = try await setup.engine.perform(setup.request())
    try await setup.wait(for: "cancel-in-completion")
    #expect(setup.told("start") == ["0"])
    #expect(setup.told("cancel") == ["0"])
    #expect(setup.told("cancel-again") == ["0"])
    #expect(setup.told("cancel-unknown") == ["3"])
    #expect(setup.told("code") == ["cancelled"])
    #expect(setup.told("cancel-in-completion") == ["3"])
    await setup.stop()
    #expect(setup.told("code").count == 1)
  }

  @Test func `an instance has at most 256 call-outs under way, and each one that was started completes`() async throws {
    let setup = try await Setup("calls-too-often", ["COUNT=300"], loops: 2)
    setup.target.hold()
    _ = try await setup.engine.perform(setup.request())
    #expect(setup.told("started") == ["256"])
    #expect(setup.told("limits") == ["44"])
    #expect(setup.log.value.contains { $0.contains("256 call-outs under way") })
    try await setup.target.waitForHeld(256)
    setup.target.release()
    try await setup.wait(for: "completions")
    #expect(setup.told("code").isEmpty)
    #expect(setup.target.requestCount == 256)
    await setup.stop()
  }

  @Test func `shutdown cancels running calls, and every completion has returned before destroy`() async throws {
    let setup = try await Setup("calls-out", ["PARENT=0", "WAIT=0"], loops: 2)
    setup.target.hold()
    for _ in 0..<20 { _ = try await setup.engine.perform(setup.request()) }
    try await setup.target.waitForHeld(20)
    await setup.stop()
    #expect(setup.told("code") == Array(repeating: "cancelled", count: 20))
    // A call that deactivate starts is cancelled when deactivate returns, unless the call has ended before.
    #expect(setup.told("start-late") == ["0"])
    #expect([["cancelled"], ["connect"]].contains(setup.told("late-code")))
    #expect(setup.told("open-at-destroy") == ["0"])
    #expect(setup.log.value.last == "open-at-destroy=0")
  }

  @Test func `Swift: send returns the whole response, and accepts any bytes as a body`() async throws {
    let setup = try await Setup(
      "calls-in-swift", loops: 2, target: { _ in .text("{}", status: 404, type: "application/json") })
    let (engine, request) = (setup.engine, try setup.request())
    let failures = await withTaskGroup { group in
      for _ in 0..<100 { group.addTask { await engine.transaction(request).error } }
      return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
    }
    #expect(failures.isEmpty, "\(failures)")
    #expect(setup.origin.requests.allSatisfy { $0.value(of: "x-called") == "404 application/json 2" })
    #expect(setup.target.requests.count == 100)
    #expect(setup.target.requests.allSatisfy { $0.method == "POST" && $0.body == [0xff, 0x00, 0x41] })
    #expect(
      setup.target.requests.first?.headers.filter { $0.name.lowercased() == "x-many" }.map(\.value) == ["1", "2"])
    await setup.stop()
  }

  @Test func `Swift: send throws the error of the call`() async throws {
    let setup = try await Setup(
      "calls-in-swift", target: { _ in ServerResponse(body: .bytes([UInt8](repeating: 97, count: 1001))) })
    _ = try await setup.engine.perform(setup.request("http://nowhere.invalid/"))
    _ = try await setup.engine.perform(setup.request("ftp://example.com/"))
    _ = try await setup.engine.perform(setup.request())
    #expect(setup.origin.requests.map { $0.value(of: "x-failed") } == ["dns", "invalid_request", "response_too_large"])
    await setup.stop()
  }

  @Test(arguments: [true, false])
  func `Swift: a call ends when the caller is cancelled, with or without a parent`(_ hasParent: Bool) async throws {
    let setup = try await Setup("calls-in-swift")
    setup.target.hold()
    let cancellation = Cancellation()
    let result = Watched<TransactionResult?>(nil)
    setup.engine.submit(
      try setup.request(nil, hasParent ? [:] : ["x-alone": "1"]), cancellation: cancellation
    ) { end in result.update { $0 = end } }
    try await setup.target.waitForHeld(1)
    cancellation.cancel()
    #expect(try await result.wait { $0 != nil }?.error?.code == "cancelled")
    try await setup.wait(for: "cancelled")
    #expect(setup.origin.requestCount == 0)
    await setup.stop()
  }
}
