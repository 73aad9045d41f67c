import Sluice
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import SluiceTraceContext
import Testing

/// The trace and the span of each event, compared with the `traceparent` that the server got.
@Suite struct EventTraceTests {
  private static let trace = "0123456789abcdef0011223344556677"
  private static let span = "8899aabbccddeeff"
  private static let parent = ParentContext(traceparent: "00-\(trace)-\(span)-01")
  private static let headers = #"{"hosts": ["*"], "propagators": ["tracecontext"]}"#
  private static let deliveries = [#", "deadline": "60s""#, #", "delivery": "queued""#]

  private static func sent(_ request: ServerRequest) throws -> TraceParent {
    try TraceParent(try #require(request.headers.first("traceparent")).utf8.span)
  }

  @Test(arguments: deliveries)
  func `the events of a hop have the ids that the server got, and the caller's span as the parent`(
    _ delivery: String
  ) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let tracer = try await HopTracer(plugin: delivery, headers: Self.headers)
    let (result, events) = try await tracer.run(server.baseURL + "/a", parent: Self.parent)
    #expect(result.error == nil)
    let sent = try Self.sent(try #require(server.requests.first))
    #expect(sent.traceID.description == Self.trace)
    #expect(events.map { $0["kind"] } == ["1", "2", "3", "4", "12", "5", "6", "7", "8"])
    for event in events {
      #expect(event["trace"] == Self.trace)
      #expect(event["parent"] == Self.span)
      #expect(event["flags"] == "1")
    }
    #expect(events.prefix(2).allSatisfy { $0["span"] == HopTracer.none.span })
    #expect(events.dropFirst(2).allSatisfy { $0["span"] == TraceID.digits(of: sent.spanID) })
  }

  @Test func `a tracer in Swift gets the same ids`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let tracer = try HopTracer(inSwift: "", headers: Self.headers)
    let (_, events) = try await tracer.run(server.baseURL + "/a", parent: Self.parent)
    let sent = try Self.sent(try #require(server.requests.first))
    #expect(events.count == 2)
    for event in events {
      #expect(event["trace"] == Self.trace)
      #expect(event["span"] == TraceID.digits(of: sent.spanID))
      #expect(event["parent"] == Self.span)
      #expect(event["sampled"] == "true")
    }
  }

  @Test(arguments: deliveries)
  func `a trace that begins in the hop is known from did_issue on, and has no parent`(_ delivery: String) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let tracer = try await HopTracer(plugin: delivery, headers: Self.headers)
    let (_, events) = try await tracer.run(server.baseURL + "/a")
    let sent = try Self.sent(try #require(server.requests.first))
    #expect(events.prefix(2).allSatisfy { $0["trace"] == HopTracer.none.trace && $0["flags"] == "0" })
    #expect(events.dropFirst(2).allSatisfy { $0["trace"] == sent.traceID.description })
    #expect(events.dropFirst(2).allSatisfy { $0["flags"] == "\(sent.flags.rawValue)" })
    #expect(sent.flags.contains(.random))
    #expect(events.allSatisfy { $0["parent"] == HopTracer.none.span })
  }

  @Test func `each retry and each redirect has its own span`() async throws {
    let isFirst = Watched(true)
    let server = try LoopbackServer { request in
      if request.target == "/a" { return ServerResponse(status: 302, headers: [HeaderLine("Location", "/b")]) }
      let isRefused = isFirst.update { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      return ServerResponse(status: isRefused ? 503 : 200)
    }
    defer { server.stop() }
    let tracer = try await HopTracer(
      headers: Self.headers,
      more: #", "retry": {"maxAttempts": 2, "statuses": [503], "backoff": {"base": "1ms", "max": "1ms"}}"#)
    let (result, events) = try await tracer.run(server.baseURL + "/a", parent: Self.parent)
    #expect(result.error == nil)
    let spans = try server.requests.map { TraceID.digits(of: try Self.sent($0).spanID) }
    #expect(Set(spans).count == 4 && !spans.contains(Self.span))
    // The server answered each hop before the next one began.
    let places = ["0.0", "0.1", "1.0", "1.1"]
    #expect(events.filter { $0["kind"] == "3" }.map { $0["place"] } == places)
    for (place, span) in zip(places, spans) {
      let own = events.drop { $0["place"] != place || $0["kind"] != "3" }.prefix { $0["place"] == place }
      #expect(own.contains { $0["kind"] == "12" })
      #expect(own.allSatisfy { $0["span"] == span && $0["trace"] == Self.trace })
    }
    let configured = events.filter { $0["kind"] == "2" }
    #expect(configured.map { $0["span"] } == [HopTracer.none.span, HopTracer.none.span])
  }

  @Test(arguments: deliveries)
  func `if no traceparent is sent, events have the caller's trace and no span`(_ delivery: String) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    for (parent, trace, span) in [
      (ParentContext(), HopTracer.none.trace, HopTracer.none.span), (Self.parent, Self.trace, Self.span),
    ] {
      let tracer = try await HopTracer(plugin: delivery)
      let (_, events) = try await tracer.run(server.baseURL + "/a", parent: parent)
      #expect(events.count == 9)
      #expect(events.allSatisfy { $0["trace"] == trace && $0["parent"] == span && $0["span"] == HopTracer.none.span })
    }
    #expect(server.requests.allSatisfy { $0.headers.first("traceparent") == nil })
  }

  @Test func `events have the trace of the sent traceparent, or the caller's trace if that traceparent is invalid`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    let other = "00-fedcba98765432100011223344556677-0011223344556677-00"
    for (value, span, isCallers) in [(other, "0011223344556677", false), ("00-nonsense", HopTracer.none.span, true)] {
      let tracer = try await HopTracer {
        $0.addStage("sends", StageCode(issue: { request, _ in request.headers["traceparent"] = value }))
      }
      let (_, events) = try await tracer.run(server.baseURL + "/a", parent: Self.parent)
      #expect(server.requests.last?.headers.first("traceparent") == value)
      let end = try #require(events.first { $0["kind"] == "12" })
      #expect(end["span"] == span)
      #expect((end["trace"] == Self.trace) == isCallers)
      #expect((end["parent"] == Self.span) == isCallers)
    }
  }

  @Test func `if a request has two traceparents, both are ignored`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let tracer = try await HopTracer {
      $0.addStage(
        "sends",
        StageCode(issue: { request, _ in
          try request.headers.add("00-\(Self.trace)-0011223344556677-01", for: "traceparent")
          try request.headers.add("00-\(Self.trace)-1011223344556677-01", for: "traceparent")
        }))
    }
    let (_, events) = try await tracer.run(server.baseURL + "/a")
    #expect(server.requests.last?.headers.filter { $0.name.lowercased() == "traceparent" }.count == 2)
    #expect(events.allSatisfy { $0["trace"] == HopTracer.none.trace && $0["span"] == HopTracer.none.span })
  }
}
