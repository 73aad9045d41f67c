import Glibc
import Sluice
import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import SluiceTraceContext
import Testing

/// Spans that plugins begin (`sluice.spans/1`), from the stage to the tracers.
@Suite struct SpanTests {
  /// One span as the tracer logged it.
  private struct Span {
    let name, kind, trace, id, parent, isInTime, status, messageBytes, isUnfinished, stage: String
    let attributes, dropped, attributeBytes, place: String

    init(_ line: String) {
      let parts = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      (name, kind, trace, id, parent) = (parts[0], parts[1], parts[2], parts[3], parts[4])
      (isInTime, status, messageBytes, isUnfinished, stage) = (parts[5], parts[6], parts[7], parts[8], parts[9])
      (attributes, dropped, attributeBytes, place) = (parts[10], parts[11], parts[12], parts[13])
    }
  }

  private struct Run {
    let results: [TransactionResult]
    let ledger: LedgerLog
    let lines: [String]

    func told(_ name: String) -> [String] {
      lines.filter { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
    }

    var spans: [Span] { told("span").map(Span.init) }
  }

  private static let noSpan = String(repeating: "0", count: 16)

  private func run(
    _ url: String, count: Int = 1, defines: [String] = [], delivery: String = "direct", tracers: String = #""stage""#,
    parent: ParentContext = ParentContext(), recordsLedger: Bool = true, more: String = ""
  ) async throws -> Run {
    let product = try await PluginCompiler.compile("measures-itself", defines: defines)
    chmod(product.path, 0o755)
    let delivery = delivery == "queued" ? #", "delivery": "queued""# : #", "deadline": "60s""#
    let text = """
      {"plugins": {"headers": {"builtin": "headers", "config": {"hosts": ["127.0.0.1"]}}, "stage": {"library": "\(product.path)"\(delivery)}},
       "request": ["stage"], "issue": ["headers", "stage"], "response": ["stage"], "tracers": [\(tracers)],
       "transport": {"loops": 1}\(more)}
      """
    let log = Watched<[String]>([])
    let ledger = LedgerLog()
    var configuration = try Configuration(text: Array(text.utf8))
    if recordsLedger { configuration.addStage("ledger", ledger.code) }
    let engine = try Engine(configuration) { line in log.update { $0.append(line.message) } }
    var results: [TransactionResult] = []
    for _ in 0..<count {
      results.append(await engine.transaction(Request(url: try HTTPURL(url)), parent: parent))
    }
    await engine.shutdown(deactivation: Patience.limit)
    withExtendedLifetime(product) {}
    return Run(results: results, ledger: ledger, lines: log.value)
  }

  @Test(arguments: ["direct", "queued"], [[], ["SERIAL"], ["BLOCKING"]])
  func `a tracer gets each span of a stage with its trace and its parent`(
    _ delivery: String, _ defines: [String]
  ) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let run = try await run(server.baseURL + "/a", defines: defines, delivery: delivery)
    #expect(run.results.allSatisfy { $0.error == nil })
    #expect(run.ledger.violation == nil, "\(String(describing: run.ledger.violation))")
    let spans = run.spans
    #expect(spans.map(\.name) == ["work", "issue", "full", "left open"])
    #expect(spans.allSatisfy { $0.stage == "stage" && $0.isInTime == "1" && $0.place == "0.0" })
    #expect(spans.map(\.kind) == ["1", "1", "3", "3"])
    #expect(spans.map(\.status) == ["1", "0", "2", "0"])
    #expect(spans.map(\.isUnfinished) == ["0", "0", "0", "1"])
    // All spans are in the trace that the transaction began and that the hop sent. Spans before the hop have no parent.
    let issue = try run.ledger.first(.didIssue)
    let trace = try #require(issue.trace.traceID).description
    #expect(spans.allSatisfy { $0.trace == trace })
    let hop = TraceID.digits(of: try #require(issue.trace.spanID))
    #expect(spans.map(\.parent) == [Self.noSpan, Self.noSpan, hop, Self.noSpan])
    #expect(Set(spans.map(\.id) + [hop, Self.noSpan]).count == 6)
    #expect(run.told("odd").isEmpty)
  }

  @Test(arguments: ["direct", "queued"]) func `attributes have four types, and their number and length are limited`(
    _ delivery: String
  ) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let run = try await run(server.baseURL + "/a", defines: ["MANY"], delivery: delivery)
    #expect(
      run.told("attribute") == [
        "word 1 after 0 0 1", "count 2  -9223372036854775808 0 0", "part 3  0 0.5 0", "yes 4  1 0 0",
      ])
    let full = try #require(run.spans.first { $0.name == "full" })
    #expect(full.attributes == "32" && full.dropped == "3" && run.told("limit") == ["5", "5", "5"])
    // If a text was cut off, its length includes the three bytes of the ellipsis at its end.
    #expect(full.messageBytes == "1024" && full.attributeBytes == "\(32 * 1024)")
    // 64 spans are allowed. The stage had begun four of them before it tried to begin seventy more, so ten of these
    // were not begun.
    #expect(run.told("many") == Array(repeating: "0", count: 10))
    #expect(run.spans.count == 64)
    #expect(run.ledger.violation == nil)
  }

  @Test func `the caller's span is the parent of a stage's span until the hop has its own span`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let parent = ParentContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    let run = try await run(server.baseURL + "/a", parent: parent)
    let hop = TraceID.digits(of: try #require(try run.ledger.first(.didIssue).trace.spanID))
    #expect(run.spans.map(\.parent) == ["b7ad6b7169203331", "b7ad6b7169203331", hop, "b7ad6b7169203331"])
    #expect(run.spans.allSatisfy { $0.trace == "0af7651916cd43dd8448eb211c80319c" })
  }

  @Test func `a span that was left open when its transaction failed is ended by the host`() async throws {
    let run = try await run("http://127.0.0.1:\(try Loopback.freePort())/")
    #expect(run.results.first?.error?.code == "connect")
    #expect(run.spans.map { "\($0.name) \($0.isUnfinished)" } == ["work 0", "left open 1"])
    #expect(run.ledger.kinds == [.willExecute, .didEndSpan, .didConfigure, .didEndHop, .didEndSpan, .didComplete])
    #expect(run.ledger.violation == nil)
  }

  @Test func `spans of redirected and challenged hops are reported in the hop in which they ended`() async throws {
    let server = try LoopbackServer { request in
      switch request.target {
      case "/a": ServerResponse(status: 302, headers: [HeaderLine("Location", "/b")])
      case "/b": ServerResponse(status: 307, headers: [HeaderLine("Location", "/c")])
      default: .text("ok")
      }
    }
    defer { server.stop() }
    let run = try await run(server.baseURL + "/a")
    #expect(run.ledger.violation == nil, "\(String(describing: run.ledger.violation))")
    #expect(run.spans.filter { $0.name == "issue" }.map(\.place) == ["0.0", "0.1", "0.2"])
    let hops = run.ledger.entries.filter { $0.kind == .didIssue }.compactMap(\.trace.spanID)
    #expect(run.spans.first { $0.name == "full" }?.parent == hops.last.map { TraceID.digits(of: $0) })
  }

  @Test func `spans of an abandoned attempt are reported before the retry`() async throws {
    let count = Watched(0)
    let server = try LoopbackServer { _ in
      let number = count.update { count in
        count += 1
        return count
      }
      return ServerResponse(status: number == 1 ? 503 : 200)
    }
    defer { server.stop() }
    let run = try await run(server.baseURL + "/a", more: #", "retry": {"statuses": [503]}"#)
    #expect(run.results.first?.attempts == 2)
    #expect(run.ledger.violation == nil, "\(String(describing: run.ledger.violation))")
    #expect(run.spans.filter { $0.name == "full" }.map(\.place) == ["0.0", "1.0"])
    #expect(run.spans.filter { $0.name == "work" }.map(\.place) == ["0.0", "1.0"])
    // The second attempt ends the span that the first attempt left open.
    #expect(run.spans.filter { $0.isUnfinished == "1" }.map(\.place) == ["1.0"])
    let ends = run.ledger.entries.map { $0.kind == .didEndSpan ? "span" : $0.kind == .willRetry ? "retry" : "" }
    #expect(ends.firstIndex(of: "retry").map { ends[..<$0].count { $0 == "span" } } == 3)
  }

  @Test func `a span belongs to one stage and one transaction, and calls with invalid arguments change nothing`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    let run = try await run(server.baseURL + "/a", count: 2)
    #expect(run.told("begun") == ["0", "0"])
    #expect(run.told("ok") == Array(repeating: "0", count: 6))
    // The stale calls use a span after its end, the span of the first transaction three times, and an invented span.
    #expect(run.told("stale") == Array(repeating: "3", count: 6))
    #expect(run.told("invalid") == Array(repeating: "-1", count: 18))
    #expect(run.told("refused") == Array(repeating: "-2", count: 4))
    #expect(run.spans.count == 8)
  }

  @Test func `if no tracer wants spans, no spans are made`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let run = try await run(server.baseURL + "/a", tracers: "", recordsLedger: false)
    #expect(run.results.allSatisfy { $0.error == nil })
    #expect(run.told("begun") == ["1"] && run.told("absent") == ["0", "1", "1", "1"])
    #expect(run.told("span").isEmpty && run.told("invalid").isEmpty)
  }
}
