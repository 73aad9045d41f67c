import Sluice
import SluiceMessages
import SluiceServer
import SluiceTestServers
import SluiceTraceContext
import Testing

/// Sampling in the built-in `headers`, over real sockets.
@Suite struct SamplingTests {
  private static let sampled = ParentContext(
    traceparent: "00-0123456789abcdef0011223344556677-8899aabbccddeeff-01", tracestate: "a=1", baggage: "user=alice")

  /// Sends requests one after the other, and returns the headers that the server received for each.
  private static func arrived(
    _ config: String, parent: ParentContext = ParentContext(), count: Int = 1
  ) async throws -> [[HeaderLine]] {
    let server = try LoopbackServer()
    defer { server.stop() }
    let text = """
      {"plugins": {"headers": {"builtin": "headers", "config": {"hosts": ["*"], \(config)}}}, "issue": ["headers"]}
      """
    let engine = try Engine(Configuration(text: Array(text.utf8)))
    let url = try HTTPURL(server.baseURL + "/a")
    for _ in 0..<count {
      let result = await engine.transaction(Request(url: url), parent: parent)
      #expect(result.error == nil)
    }
    await engine.shutdown()
    return server.requests.map(\.headers)
  }

  private static func sampler(_ type: String, _ ratio: String = "") -> String {
    "\"sampler\": {\"type\": \"\(type)\"\(ratio.isEmpty ? "" : ", \"ratio\": \(ratio)")}"
  }

  @Test(arguments: [
    ("always_on", "", "03", "01"), ("always_off", "", "02", "00"), ("traceidratio", "1", "03", "01"),
    ("traceidratio", "0", "02", "00"), ("parentbased_always_on", "", "03", "01"),
    ("parentbased_always_off", "", "02", "01"), ("parentbased_traceidratio", "0.0", "02", "01"),
  ])
  func `each sampler decides about a new trace and about the caller's trace`(
    type: String, ratio: String, new: String, continued: String
  ) async throws {
    let began = try await Self.arrived(Self.sampler(type, ratio))
    #expect(try #require(began.first?.first("traceparent")).hasSuffix("-\(new)"))
    let went = try await Self.arrived(Self.sampler(type, ratio), parent: Self.sampled)
    let traceparent = try #require(went.first?.first("traceparent"))
    #expect(traceparent.hasPrefix("00-0123456789abcdef0011223344556677-") && traceparent.hasSuffix("-\(continued)"))
    #expect(!traceparent.contains("8899aabbccddeeff"))
    #expect(went.first?.first("tracestate") == "a=1")
  }

  @Test func `a sampler with a ratio decides by the trace id`() async throws {
    let requests = try await Self.arrived(Self.sampler("traceidratio", "0.5"), count: 40)
    let sampler = Sampler(.traceIDRatio, ratio: 0.5)
    for headers in requests {
      let parent = try TraceParent(try #require(headers.first("traceparent")).utf8.span)
      let isSampled = sampler.samples(parent.traceID, parent: nil)
      #expect(parent.flags.contains(.sampled) == isSampled)
    }
    #expect(requests.count == 40)
  }

  @Test(
    arguments: [
      ("always_on", "00", "ot=th:0;rv:6e6d1a75832a2f,a=1"), ("always_off", "01", "ot=rv:6e6d1a75832a2f,a=1"),
      ("parentbased_always_on", "01", "a=1,ot=th:4;rv:6e6d1a75832a2f"),
    ])
  func `a sampling threshold is sent only if the decision still follows from it`(
    type: String, flags: String, state: String
  ) async throws {
    let parent = ParentContext(
      traceparent: "00-0123456789abcdef0011223344556677-8899aabbccddeeff-\(flags)",
      tracestate: "a=1,ot=th:4;rv:6e6d1a75832a2f")
    let arrived = try await Self.arrived(Self.sampler(type), parent: parent)
    #expect(arrived.first?.first("tracestate") == state)
  }

  @Test func `with sampledOnly, no headers of an unsampled trace are sent, except baggage`() async throws {
    let config =
      "\"sampledOnly\": true, \"propagators\": [\"tracecontext\", \"baggage\", \"b3\", \"datadog\", \"xray\"], "
    let off = try await Self.arrived(config + Self.sampler("always_off"), parent: Self.sampled)
    let kept = try #require(off.first)
    for name in ["traceparent", "tracestate", "b3", "x-datadog-trace-id", "x-amzn-trace-id"] {
      #expect(kept.first(name) == nil, "\(name)")
    }
    #expect(kept.first("baggage") == "user=alice")
    #expect(kept.first("X-Request-ID") != nil)
    let on = try await Self.arrived(config + Self.sampler("always_on"), parent: Self.sampled)
    #expect(on.first?.first("traceparent") != nil && on.first?.first("b3") != nil)
  }

  @Test func `if traces are disabled, the caller's trace is passed on unchanged and no trace begins`() async throws {
    let handed = try await Self.arrived("\"disabled\": true", parent: Self.sampled)
    #expect(handed.first?.first("traceparent") == Self.sampled.traceparent)
    #expect(handed.first?.first("tracestate") == "a=1")
    #expect(handed.first?.first("baggage") == "user=alice")
    let none = try await Self.arrived("\"disabled\": true")
    #expect(none.first?.first("traceparent") == nil)
    #expect(none.first?.first("X-Request-ID") != nil)
  }

  @Test func `a caller's sampling decision without a trace applies to the trace that begins`() async throws {
    let denied = try await Self.arrived("\"existing\": \"keep\"", parent: ParentContext(sampling: .denied))
    #expect(denied.first?.first("traceparent")?.hasSuffix("-02") == true)
  }

  @Test func `Datadog and X-Ray headers are sent together with traceparent, for the same span`() async throws {
    let lines = try await Self.arrived(
      "\"propagators\": [\"tracecontext\", \"datadog\", \"xray\"]", parent: Self.sampled)
    let headers = try #require(lines.first)
    let parent = try TraceParent(try #require(headers.first("traceparent")).utf8.span)
    #expect(headers.first("x-datadog-trace-id") == "4822678189205111")
    #expect(headers.first("x-datadog-parent-id") == String(parent.spanID))
    #expect(headers.first("x-datadog-tags") == "_dd.p.tid=0123456789abcdef")
    #expect(headers.first("x-datadog-sampling-priority") == "1")
    let span = parent.description.split(separator: "-").dropFirst(2).first ?? ""
    #expect(
      headers.first("X-Amzn-Trace-Id") == "Root=1-01234567-89abcdef0011223344556677;Parent=\(span);Sampled=1")
  }
}
