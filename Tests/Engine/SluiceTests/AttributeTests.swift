import Glibc
import Sluice
import SluiceMessages
import SluicePlugin
import SluiceTestKit
import SluiceTestServers
import Testing

/// Tests which attributes of a transaction (`sluice.attributes/1`) stages and tracers see, and which the result has.
@Suite struct AttributeTests {
  private struct Run {
    let result: TransactionResult
    let lines: [String]

    func told(_ name: String) -> [String] {
      lines.filter { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
    }
  }

  /// Sends one request through two instances of the fixture plugin. The first instance asks for a second attempt.
  private func run(
    flags: String = "0", delivery: String = "inline", _ change: (inout Configuration) -> Void = { _ in }
  ) async throws -> Run {
    let product = try await PluginCompiler.compile("sets-attributes", defines: ["FLAGS=\(flags)"])
    chmod(product.path, 0o755)
    let server = try LoopbackServer()
    defer { server.stop() }
    let text = """
      {"plugins": {"first": {"library": "\(product.path)"},
                   "second": {"library": "\(product.path)", "delivery": "\(delivery)"}},
       "request": ["first", "second"], "response": ["first"], "tracers": ["second"], "transport": {"loops": 1}}
      """
    let log = Watched<[String]>([])
    var configuration = try Configuration(text: Array(text.utf8))
    change(&configuration)
    let engine = try Engine(configuration) { line in log.update { $0.append(line.message) } }
    let result = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/a")))
    await engine.shutdown()
    withExtendedLifetime(product) {}
    return Run(result: result, lines: log.value)
  }

  @Test(arguments: ["0", "SLUICE_FLAG_BLOCKING"])
  func `a stage reads attributes of other stages, the last value wins, and values survive retries`(_ flags: String)
    async throws
  {
    let run = try await run(flags: flags)
    #expect(run.result.error == nil && run.result.attempts == 2)
    #expect(run.told("first.set") == ["0", "0"])
    #expect(run.told("first.remove") == ["0", "0"] && run.told("first.remove-again") == ["1", "1"])
    // In the second attempt, this is the value that the other stage has set in the first attempt.
    #expect(run.told("first.http.route") == ["status 1", "1 0 0 0 /second"])
    #expect(run.told("second.http.route") == ["1 0 0 0 /items/{id}", "1 0 0 0 /items/{id}"])
    #expect(run.told("second.tries") == ["2 0 1 0 ", "2 0 2 0 ", "2 0 2 0 "])
    #expect(run.told("second.share") == ["3 0 0 0.5 ", "3 0 0 0.5 "])
    #expect(run.told("second.is-new") == ["4 0 1 0 ", "4 0 0 0 "])
    #expect(run.told("second.user.id") == ["1 1 0 0 s3cret", "1 1 0 0 s3cret"])
    #expect(run.told("second.removed") == ["status 1", "status 1"])
    #expect(run.told("second.count") == ["5", "5"])
  }

  @Test func `the result has the attributes in order, with secrets marked`() async throws {
    let attributes = try await run().result.attributes
    #expect(attributes.map(\.name) == ["http.route", "tries", "share", "is-new", "user.id"])
    #expect(attributes["http.route"] == "/second" && attributes["tries"] == 2)
    #expect(attributes["share"] == 0.5 && attributes["is-new"] == false)
    #expect(attributes.first { $0.isSensitive }?.name == "user.id")
    #expect(attributes.first { $0.isSensitive }?.shownValue == "REDACTED")
  }

  @Test(arguments: ["0", "SLUICE_FLAG_BLOCKING"])
  func `attributes that are malformed, too many or used wrongly are refused and change nothing`(_ flags: String)
    async throws
  {
    let run = try await run(flags: flags)
    let invalid = [
      "null", "null-place", "null-at", "bad-name", "bad-remove", "forged-name", "forged-text", "long-text", "not-utf8",
      "not-a-number", "unknown-flag", "unknown-kind",
    ]
    for name in invalid { #expect(run.told("first.\(name)") == ["-1"], "\(name)") }
    #expect(run.told("first.far") == ["1"])
    #expect(run.told("first.forged-exchange") == ["3"] && run.told("first.null-exchange") == ["3"])
    #expect(run.told("first.elsewhere") == ["-3"])
    #expect(run.told("first.filled") == ["64"] && run.told("first.full") == ["5"] && run.told("first.again") == ["0"])
    #expect(run.lines.contains { $0.contains("has reached a limit: a transaction has at most 64 attributes") })
  }

  @Test func `a tracer can only read attributes, and with queued delivery it gets none`() async throws {
    let inline = try await run()
    #expect(inline.told("second.set-in-event") == ["-2"] && inline.told("second.remove-in-event") == ["-2"])
    #expect(inline.told("second.tries").count == 3 && inline.result.attributes["late"] == nil)
    let queued = try await run(delivery: "queued")
    #expect(queued.told("second.no-exchange") == ["1"] && queued.told("second.tries").count == 2)
  }

  @Test func `a stage of the program can read and set attributes, and an invalid value is refused`() async throws {
    let kept = Watched<TransactionAttributes?>(nil)
    let run = try await run { configuration in
      configuration.addStage(
        "program",
        StageCode(
          request: { _, context in
            await Task.yield()
            context.attributes["seen"] = context.attributes["http.route"]
            context.attributes["user.id"] = nil
            #expect(throws: StageFailure.self) { try context.attributes.set("no name", 1) }
            #expect(throws: StageFailure.self) { try context.attributes.set("n", .number(.infinity)) }
            let isSet = try context.attributes.set("token", "t0ken", isSensitive: true)
            #expect(isSet)
          },
          response: { _, context in
            context.attributes["status.seen"] = .integer(Int64(context.attributes.names.count))
            kept.update { $0 = context.attributes }
          }))
    }
    #expect(run.result.attributes["seen"] == "/second" && run.result.attributes["user.id"] == nil)
    #expect(run.result.attributes["token"] == "t0ken" && run.result.attributes["status.seen"] == 6)
    // This code does not run on the loop.
    let left = try #require(kept.value)
    #expect(left.names.isEmpty && left["seen"] == nil)
    let isSet = try left.set("late", 1)
    #expect(!isSet)
  }

  @Test func `the result of a transaction without attributes has no attributes`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let engine = try Engine(Configuration())
    let result = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/")))
    #expect(result.error == nil && result.attributes.isEmpty)
    await engine.shutdown()
  }
}
