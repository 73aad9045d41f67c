import Sluice
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import SluiceTraceContext
import Testing

/// The trace context of a task as the parent of its requests.
@Suite struct TaskContextTests {
  private struct Answer: Decodable {}

  @Test func `every function that sends a request uses the task's context, unless it gets a parent`()
    async throws
  {
    let server = try LoopbackServer { _ in .text("{}", type: "application/json") }
    defer { server.stop() }
    let engine = try Engine(HeaderPlaces.configuration("\"hosts\": [\"*\"]"))
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    let context = TraceContext.start(baggage: "user=alice")
    try await TraceContext.$current.withValue(context) {
      _ = try await engine.perform(request)
      _ = await engine.transaction(request)
      _ = try await engine.perform(request, decoding: Answer.self)
      _ = await withCheckedContinuation { continuation in
        engine.submit(request) { continuation.resume(returning: $0) }
      }
      _ = try await engine.perform(request, parent: HeaderPlaces.parent)
      _ = try await engine.perform(request, parent: ParentContext())
      async let child = engine.perform(request)
      _ = try await child
    }
    _ = try await engine.perform(request)
    await engine.shutdown()
    let parents = try server.requests.map { request in
      try TraceParent(try #require(request.headers.first("traceparent")).utf8.span)
    }
    let isOurs = parents.map { $0.traceID == context.trace.traceID }
    #expect(isOurs == [true, true, true, true, false, false, true, false])
    #expect(Set(parents.map(\.spanID)).count == 8)
    #expect(!parents.contains { $0.spanID == context.trace.spanID })
    #expect(parents.dropFirst(4).first?.traceID == TraceID(high: 0x0123_4567_89AB_CDEF, low: 0x0011_2233_4455_6677))
    #expect(server.requests.prefix(4).allSatisfy { $0.headers.first("baggage") == "user=alice" })
    #expect(server.requests.last?.headers.first("baggage") == nil)
  }

  @Test(arguments: [
    ([], true), (["metrics"], true), (["headers"], false), (["metrics", "headers"], false), (["code"], false),
  ])
  func `if no stage can send the task's context, the log says so once`(_ stages: [String], isUnsent: Bool) async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    var configuration = Configuration()
    configuration.plugins = stages.map { name in
      PluginConfiguration(name: name, source: name == "code" ? .code(StageCode(request: { _, _ in })) : .builtin(name))
    }
    configuration.tracers = stages.filter { $0 == "metrics" }.map { StageReference($0) }
    configuration.issue = stages.filter { $0 == "headers" }.map { StageReference($0) }
    configuration.request = stages.filter { $0 == "code" }.map { StageReference($0) }
    let lines = Watched<[LogLine]>([])
    let engine = try Engine(configuration) { line in lines.update { $0.append(line) } }
    let request = Request(url: try HTTPURL(server.baseURL))
    _ = try await engine.perform(request)
    for _ in 0..<3 {
      try await TraceContext.$current.withValue(TraceContext.start()) { _ = try await engine.perform(request) }
    }
    await engine.shutdown()
    let warnings = lines.value.filter { $0.message.contains("no stage sends it; add the built-in \"headers\"") }
    #expect(warnings.count == (isUnsent ? 1 : 0), "\(lines.value)")
  }
}
