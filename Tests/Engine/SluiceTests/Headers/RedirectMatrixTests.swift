import Sluice
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import SluiceTraceContext
import Testing

/// The headers from the built-in `headers` that arrive at each hop. The cases are all kinds of redirects, to listed and
/// to unlisted origins, with and without a retry.
@Suite struct RedirectMatrixTests {
  /// The target of the redirect, relative to its source.
  enum Target: CaseIterable, Sendable {
    case sameOrigin, otherHost, otherPort, otherScheme
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let target: Target
    let isStartListed: Bool
    let isTargetListed: Bool
    let isRetried: Bool

    var testDescription: String {
      "\(target), from \(isStartListed ? "a listed" : "an unlisted") origin"
        + " to \(isTargetListed ? "a listed" : "an unlisted") one\(isRetried ? ", retried" : "")"
    }

    /// A redirect to another scheme needs a TLS server, which is nginx here.
    static let targets = Target.allCases.filter { $0 != .otherScheme || NginxServer.isAvailable }

    static let all: [Case] = targets.flatMap { target in
      [(true, true), (true, false), (false, true), (false, false)].flatMap { start, end in
        [false, true].map { Case(target: target, isStartListed: start, isTargetListed: end, isRetried: $0) }
      }
    }.filter { $0.target != .sameOrigin || $0.isStartListed == $0.isTargetListed }
  }

  @Test(arguments: Case.all)
  func `a hop gets its own headers if its origin is listed, and otherwise no headers`(
    _ item: Case
  ) async throws {
    let scene = try await Scene(item.target)
    defer { scene.stop() }
    let hosts = (item.isStartListed ? [scene.start] : []) + (item.isTargetListed ? [scene.end] : [])
    let engine = try Engine(scene.configuration(hosts: hosts, isRetried: item.isRetried))
    let url = try HTTPURL("\(scene.start)/\(item.isRetried ? "flaky" : "steady")")
    let result = await engine.transaction(Request(url: url), parent: HeaderPlaces.parent)
    await engine.shutdown()
    #expect(result.error == nil)
    #expect(result.response?.status == 200)

    let hops = scene.hops.value
    let round = [item.isStartListed, item.isTargetListed]
    #expect(hops.map { $0.first("traceparent") != nil } == (item.isRetried ? round + round : round))
    try check(hops, result)
  }

  private func check(_ hops: [[HeaderLine]], _ result: TransactionResult) throws {
    var spans: Set<UInt64> = []
    var sessions: Set<String?> = []
    let dressed = hops.filter { $0.first("traceparent") != nil }
    for headers in hops where headers.first("traceparent") == nil { #expect(HeaderPlaces.kinds(in: headers) == []) }
    for headers in dressed {
      for name in HeaderPlaces.header.values { #expect(headers.values(of: name).count == 1, "\(name)") }
      let parent = try TraceParent(try #require(headers.first("traceparent")).utf8.span)
      #expect(parent.traceID == TraceID(high: 0x0123_4567_89AB_CDEF, low: 0x0011_2233_4455_6677))
      #expect(parent.spanID != 0x8899_AABB_CCDD_EEFF)
      spans.insert(parent.spanID)
      sessions.insert(headers.first("x-session-id"))
      #expect(headers.values(of: "tracestate") == ["vendor=opaque"])
      #expect(headers.first("baggage") == "user=alice")
      #expect(headers.first("x-request-id") == result.requestID)
      #expect(headers.first("x-app") == "shop")
    }
    #expect(spans.count == dressed.count)
    #expect(sessions.count <= 1)
  }

  @Test func `a hop gets the kinds of headers of its own host, not of the previous host`() async throws {
    let scene = try await Scene(.otherPort)
    defer { scene.stop() }
    let hosts = "\"\(scene.start)\", {\"host\": \"\(scene.end)\", \"send\": [\"trace\", \"requestId\"]}"
    let engine = try Engine(HeaderPlaces.configuration("\"hosts\": [\(hosts)], \(HeaderPlaces.kinds)"))
    let result = await engine.transaction(
      Request(url: try HTTPURL("\(scene.start)/steady")), parent: HeaderPlaces.parent)
    await engine.shutdown()
    #expect(result.error == nil)
    #expect(
      scene.hops.value.map { HeaderPlaces.kinds(in: $0) } == [Set(HeaderPlaces.header.keys), ["trace", "requestId"]])
  }
}

/// Two origins, the first of which redirects to the second. `/flaky` leads to a target that answers 503 once.
private struct Scene {
  let start: String
  let end: String
  /// The headers of each received request, in order.
  let hops: Watched<[[HeaderLine]]>
  private let front: LoopbackServer
  private let back: LoopbackServer
  private let nginx: NginxServer?
  private let authority: String?

  init(_ target: RedirectMatrixTests.Target) async throws {
    let hops = Watched<[[HeaderLine]]>([])
    let location = Watched("")
    let handler: EmbeddedServer.Handler = { request in
      let count = hops.update { hops in
        hops.append(request.headers)
        return hops.count
      }
      switch request.path {
      case "/steady", "/flaky":
        return ServerResponse(
          status: 307, headers: [HeaderLine("Location", "\(location.value)/end-of-\(request.path.dropFirst())")])
      case "/end-of-flaky" where count == 2: return ServerResponse(status: 503)
      default: return .text("ok")
      }
    }
    self.hops = hops
    front = try LoopbackServer(handler: handler)
    back = try LoopbackServer(handler: handler)
    start = front.baseURL
    guard target == .otherScheme else {
      nginx = nil
      authority = nil
      end =
        switch target {
        case .otherHost: "http://localhost:\(front.port)"
        case .otherPort: back.baseURL
        default: front.baseURL
        }
      location.update { [end] in $0 = end }
      return
    }
    let certificates = try await TestCertificates.shared()
    var configuration = NginxConfiguration()
    configuration.extraDirectives = "location /end-of- { proxy_pass \(back.baseURL); }"
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    end = nginx.secureBaseURL
    authority = certificates.authority
    self.nginx = nginx
    location.update { $0 = nginx.secureBaseURL }
  }

  func configuration(hosts: [String], isRetried: Bool) throws -> Configuration {
    let list = hosts.map { "\"\($0)\"" }.joined(separator: ", ")
    var configuration = try HeaderPlaces.configuration(
      "\"hosts\": [\(list)], \(HeaderPlaces.kinds)",
      more: "\"retry\": {\"statuses\": [503], \"maxAttempts\": 2, \"backoff\": {\"base\": \"1ms\"}, \"budget\": 100},")
    configuration.transport.tls.ca = authority
    return configuration
  }

  func stop() {
    front.stop()
    back.stop()
  }
}
