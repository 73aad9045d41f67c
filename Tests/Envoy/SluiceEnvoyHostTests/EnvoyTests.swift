import CEnvoyPlayer
import Glibc
import SluiceJSON
import SluiceTestKit
import Testing

/// The module in an Envoy that the tests play, with real plugins. `scripts/check-envoy.py` tests it in real Envoys.
@Suite(.serialized) enum EnvoyTests {
  @Suite struct Streams {
    @Test func `stages change the head of a request and of its response`() async throws {
      let plugin = try await EnvoyFixture.plugin(
        request: #"sluice_set_request_header(host, exchange, "x-from", "plugin");"#,
        response: #"sluice_set_response_header(host, exchange, "x-back", "plugin");"#)
      let fixture = try EnvoyFixture(plugin, "request", "response")
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      let stream = PlayedStream(configuration, worker, fields: [("x-two", "1"), ("x-two", "2"), ("te", "trailers")])
      #expect(stream.request())
      #expect(stream.requestField("x-from") == "plugin")
      #expect(stream.requestField("x-two", 1) == "2" && stream.requestField("te") == "trailers")
      #expect(stream.requestField(":path") == "/a?b=1" && stream.requestField(":authority") == "a.test")
      #expect(stream.respond(200, [("content-length", "5")], isLast: false))
      #expect(stream.responseField("x-back") == "plugin" && stream.responseField("content-length") == "5")
      #expect(stream.body("hello", ofRequest: false, isLast: true))
      #expect(stream.passedBody(ofRequest: false) == "hello")
    }

    @Test func `fields are removed, replaced and repeated`() async throws {
      let plugin = try await EnvoyFixture.plugin(
        request: """
          sluice_text name = sluice_text_make("x-gone");
          api->header_remove(exchange, SLUICE_SIDE_REQUEST, name);
          sluice_set_request_header(host, exchange, "x-two", "new");
          api->header_add(exchange, SLUICE_SIDE_REQUEST, sluice_text_make("x-one"), sluice_text_make("2"));
          """)
      let fixture = try EnvoyFixture(plugin, "request")
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      let stream = PlayedStream(
        configuration, worker,
        fields: [("x-gone", "1"), ("x-kept", "a"), ("x-kept", "b"), ("x-two", "1"), ("x-one", "1"), ("x-two", "2")])
      #expect(stream.request())
      #expect(stream.requestField("x-gone") == nil)
      #expect(stream.requestField("x-two") == "new" && stream.requestField("x-two", 1) == nil)
      #expect(stream.requestField("x-one") == "1" && stream.requestField("x-one", 1) == "2")
      #expect(stream.requestField("x-kept") == "a" && stream.requestField("x-kept", 1) == "b")
    }

    @Test func `a request stage changes method, path and authority`() async throws {
      let plugin = try await EnvoyFixture.plugin(
        request: """
          api->method_set(exchange, sluice_text_make("PUT"));
          api->url_set(exchange, sluice_text_make("http://b.test/c?d"));
          """)
      let fixture = try EnvoyFixture(plugin, "request")
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      let stream = PlayedStream(configuration, worker)
      #expect(stream.request())
      #expect(stream.requestField(":method") == "PUT" && stream.requestField(":path") == "/c?d")
      #expect(stream.requestField(":authority") == "b.test")
    }

    @Test func `a stage answers instead of the upstream`() async throws {
      let plugin = try await EnvoyFixture.plugin(
        request: """
          sluice_verdict verdict = api->respond(exchange, 403);
          sluice_set_response_header(host, exchange, "x-why", "closed");
          api->body_set(exchange, SLUICE_SIDE_RESPONSE, (sluice_bytes){(const uint8_t *)"no", 2});
          return verdict;
          """)
      let fixture = try EnvoyFixture(plugin, "request")
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      let stream = PlayedStream(configuration, worker)
      #expect(!stream.request())
      // The answer is sent after the hook.
      #expect(stream.reply == nil)
      #expect(worker.turn() == 1)
      #expect(stream.reply == 403 && stream.replyBody == "no" && stream.responseField("x-why") == "closed")
      #expect(!stream.hasPassed(ofRequest: true))
    }

    @Test(arguments: [nil, "application/grpc"])
    func `a stage that fails is 500, without its reason`(contentType: String?) async throws {
      let plugin = try await EnvoyFixture.plugin(request: #"return sluice_fail(host, exchange, "closed", "secret");"#)
      let fixture = try EnvoyFixture(plugin, "request")
      let configuration = try #require(fixture.open())
      _ = takeEnvoyLog()
      let worker = EnvoyWorker()
      let stream = PlayedStream(
        configuration, worker, fields: contentType.map { [("content-type", $0)] } ?? [])
      #expect(!stream.request())
      #expect(worker.turn() == 1)
      #expect(stream.reply == 500 && !stream.replyBody.contains("secret"))
      #expect(stream.responseField("proxy-status") == "sluice; error=proxy_internal_error")
      #expect(stream.responseField("grpc-status") == (contentType == nil ? nil : "2"))
      #expect(takeEnvoyLog().contains("stage \"stage\": secret"))
    }

    @Test func `a suspended request continues when another thread resumes it`() async throws {
      let plugin = try await PluginCompiler.compile("resumes-elsewhere", name: "stage")
      let fixture = try EnvoyFixture(plugin, "request")
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      let stream = PlayedStream(configuration, worker, method: "POST")
      #expect(!stream.request(isLast: false))
      #expect(!stream.body("up", ofRequest: true, isLast: false))
      #expect(worker.turn() == 1)
      #expect(stream.hasPassed(ofRequest: true) && stream.requestField("x-late") == "yes")
      #expect(stream.body("load", ofRequest: true, isLast: true))
      #expect(stream.passedBody(ofRequest: true) == "upload")
      #expect(stream.respond())
    }

    @Test func `a stage that stays suspended ends at its deadline`() async throws {
      let plugin = try await PluginCompiler.compile("resumes-elsewhere", name: "stage", defines: ["NEVER=1"])
      let text =
        "{\"plugins\": {\"stage\": {\"library\": \"\(plugin.path)\", \"deadline\": \"20ms\"}}, \"request\": [\"stage\"]}"
      let fixture = try EnvoyFixture(text, [plugin.path])
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      let stream = PlayedStream(configuration, worker)
      #expect(!stream.request() && worker.turn() == 1)
      #expect(stream.reply == 500)
    }

    @Test func `a request whose URL is refused is 400`() async throws {
      let plugin = try await EnvoyFixture.plugin()
      let fixture = try EnvoyFixture(plugin, "request")
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      let stream = PlayedStream(configuration, worker, path: "/a\\b")
      #expect(!stream.request())
      #expect(worker.turn() == 1)
      #expect(stream.reply == 400)
    }

    @Test func `what Envoy answers before the request was sent passes`() async throws {
      let plugin = try await PluginCompiler.compile("resumes-elsewhere", name: "stage", defines: ["NEVER=1"])
      let fixture = try EnvoyFixture(plugin, "request")
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      let stream = PlayedStream(configuration, worker)
      #expect(!stream.request())
      #expect(stream.respond(408, isLocal: true))
      #expect(stream.hasPassed(ofRequest: false))
    }
  }

  @Suite struct Bodies {
    private static func replacing(_ side: String) -> String {
      """
      sluice_bytes body = {0};
      api->body_get(exchange, SLUICE_SIDE_\(side), &body);
      if (body.size != 3) return sluice_fail(host, exchange, "length", "not the whole body");
      api->body_set(exchange, SLUICE_SIDE_\(side), (sluice_bytes){(const uint8_t *)"changed", 7});
      """
    }

    @Test(arguments: [["abc"], ["a", "bc"], ["", "abc", ""]])
    func `a stage gets the whole body of a request and replaces it`(pieces: [String]) async throws {
      let plugin = try await EnvoyFixture.plugin(
        request: Self.replacing("REQUEST"), wants: "SLUICE_WANTS_REQUEST_BODY")
      let fixture = try EnvoyFixture(plugin, "request")
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      let stream = PlayedStream(configuration, worker, method: "POST", fields: [("content-length", "3")])
      #expect(!stream.request(isLast: false))
      for piece in pieces.dropLast() { #expect(!stream.body(piece, ofRequest: true, isLast: false)) }
      #expect(stream.body(pieces[pieces.count - 1], ofRequest: true, isLast: true))
      #expect(stream.passedBody(ofRequest: true) == "changed" && stream.requestField("content-length") == "7")
    }

    @Test(arguments: [false, true])
    func `a stage gets the whole body of a response and replaces it`(hasTrailers: Bool) async throws {
      let plugin = try await EnvoyFixture.plugin(
        response: Self.replacing("RESPONSE"), wants: "SLUICE_WANTS_RESPONSE_BODY")
      let fixture = try EnvoyFixture(plugin, "response")
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      let stream = PlayedStream(configuration, worker)
      #expect(stream.request())
      #expect(!stream.respond(200, [("transfer-encoding", "chunked")], isLast: false))
      #expect(!stream.body("ab", ofRequest: false, isLast: false))
      #expect(stream.body("c", ofRequest: false, isLast: !hasTrailers) == !hasTrailers)
      if hasTrailers { #expect(stream.trailers(ofRequest: false)) }
      #expect(stream.passedBody(ofRequest: false) == "changed" && stream.responseField("content-length") == "7")
      #expect(stream.responseField("transfer-encoding") == nil)
    }

    @Test func `a stage gives a response without a body one`() async throws {
      let plugin = try await EnvoyFixture.plugin(
        response: #"api->body_set(exchange, SLUICE_SIDE_RESPONSE, (sluice_bytes){(const uint8_t *)"new", 3});"#)
      let fixture = try EnvoyFixture(plugin, "response")
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      let stream = PlayedStream(configuration, worker)
      #expect(stream.request())
      if !stream.respond(200, [("x-a", "1")]) { worker.turn() }
      #expect((stream.reply == nil ? stream.passedBody(ofRequest: false) : stream.replyBody) == "new")
      #expect(stream.responseField("x-a") == "1")
    }

    @Test func `a response that is too large for a stage that wants all of it is 502`() async throws {
      let plugin = try await EnvoyFixture.plugin(wants: "SLUICE_WANTS_RESPONSE_BODY")
      let fixture = try EnvoyFixture(plugin, "response")
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      let stream = PlayedStream(configuration, worker)
      #expect(stream.request())
      #expect(!stream.respond(isLast: false))
      #expect(!stream.body(String(repeating: "x", count: 1 << 20), ofRequest: false, isLast: false))
      #expect(!stream.body("x", ofRequest: false, isLast: false))
      #expect(worker.turn() == 1)
      #expect(stream.reply == 502 && stream.responseField("proxy-status") == "sluice; error=http_response_body_size")
    }
  }

  @Suite struct Pieces {
    /// Turns each piece of both bodies to upper case, and adds a point at the end.
    private static let source = """
      #include <ctype.h>
      #include <sluice/sluice.h>
      static sluice_body_verdict on_chunk(void *instance, sluice_exchange *exchange, sluice_side side, sluice_bytes piece) {
        uint8_t upper[64];
        for (size_t i = 0; i < piece.size; i++) upper[i] = (uint8_t)toupper(piece.data[i]);
        ((const sluice_host *)instance)->exchange->body_write(exchange, side, (sluice_bytes){upper, piece.size});
        return SLUICE_BODY_VERDICT_TAKEN;
      }
      static sluice_body_verdict on_end(void *instance, sluice_exchange *exchange, sluice_side side) {
        ((const sluice_host *)instance)->exchange->body_write(exchange, side, (sluice_bytes){(const uint8_t *)".", 1});
        return SLUICE_BODY_VERDICT_TAKEN;
      }
      static const sluice_body body = SLUICE_TABLE(
          sluice_body, .sides = SLUICE_BODY_SIDE_REQUEST | SLUICE_BODY_SIDE_RESPONSE, .on_chunk = on_chunk, .on_end = on_end);
      SLUICE_EXTENSIONS(extension, {SLUICE_BODY_ID, &body});
      SLUICE_PLUGIN("upper", "1.0.0", SLUICE_SET(summary, "Upper case."), SLUICE_UNCONFIGURED, SLUICE_SET(extension, extension));
      """

    @Test(arguments: [false, true])
    func `stages change the pieces of a response`(hasTrailers: Bool) async throws {
      let plugin = try await PluginCompiler.compile(source: Self.source, name: "stage")
      let fixture = try EnvoyFixture(plugin, "response")
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      let stream = PlayedStream(configuration, worker)
      #expect(stream.request())
      #expect(
        stream.respond(200, [("content-length", "3")], isLast: false) && stream.responseField("content-length") == nil)
      #expect(stream.body("x", ofRequest: false, isLast: false))
      #expect(stream.passedBody(ofRequest: false) == "X")
      #expect(stream.body("yz", ofRequest: false, isLast: !hasTrailers))
      if hasTrailers { #expect(stream.trailers(ofRequest: false)) }
      #expect(stream.passedBody(ofRequest: false) == "XYZ.")
    }

    @Test func `a stage that sees pieces of requests is refused`() async throws {
      let plugin = try await PluginCompiler.compile(source: Self.source, name: "stage")
      let fixture = try EnvoyFixture(plugin, "request")
      _ = takeEnvoyLog()
      #expect(fixture.open() == nil)
      #expect(takeEnvoyLog().contains("sees the body of a request piece by piece, which is not supported in Envoy"))
    }

    @Test func `a piece waits for a suspended stage`() async throws {
      let plugin = try await PluginCompiler.compile("suspends-pieces", name: "stage", defines: ["ONLY='!'"])
      let fixture = try EnvoyFixture(plugin, "response")
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      let stream = PlayedStream(configuration, worker)
      #expect(stream.request() && stream.respond(isLast: false))
      #expect(stream.body("a", ofRequest: false, isLast: false))
      #expect(!stream.body("!", ofRequest: false, isLast: false))
      #expect(worker.turn() == 1)
      #expect(stream.passedBody(ofRequest: false) == "a<late>")
      // Pieces that arrive before the stage has resumed wait.
      #expect(!stream.body("!", ofRequest: false, isLast: false))
      stream.body("b", ofRequest: false, isLast: false)
      stream.body("c", ofRequest: false, isLast: true)
      while !stream.passedBody(ofRequest: false).hasSuffix("bc") { if worker.turn() == 0 { break } }
      #expect(stream.passedBody(ofRequest: false) == "a<late><late>bc")
    }

    @Test func `what a stage has made of a piece is not given to it again`() async throws {
      let plugin = try await PluginCompiler.compile("suspends-pieces", name: "stage")
      let fixture = try EnvoyFixture(plugin, "response")
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      let stream = PlayedStream(configuration, worker)
      #expect(stream.request() && stream.respond(isLast: false))
      for _ in 0..<20 {
        stream.body("piece", ofRequest: false, isLast: false)
        worker.turnWithoutWaiting()
      }
      stream.body("piece", ofRequest: false, isLast: true)
      while !stream.hasPassedAll { if worker.turn() == 0 { break } }
      let count =
        stream.passedBody(ofRequest: false).split(separator: "<late>", omittingEmptySubsequences: false).count - 1
      // Pieces that arrive together are one piece.
      #expect((1...21).contains(count) && stream.passedBody(ofRequest: false).count == count * 6)
    }
  }

  @Suite struct Attempts {
    private static func fixture() async throws -> EnvoyFixture {
      let plugin = try await EnvoyFixture.plugin(
        issue: """
          static int calls;
          char value[] = {(char)('0' + ++calls), 0};
          sluice_set_request_header(host, exchange, "x-attempt", value);
          sluice_set_request_header(host, exchange, calls == 1 ? "x-first" : "x-later", "yes");
          """)
      return try EnvoyFixture(plugin, "issue")
    }

    @Test func `each attempt is issued, and the next one does not get its headers`() async throws {
      let fixture = try await Self.fixture()
      let (pipeline, issue) = (try #require(fixture.open()), try #require(fixture.open("issue")))
      let worker = EnvoyWorker()
      let stream = PlayedStream(pipeline, worker)
      #expect(stream.request() && stream.requestField("x-attempt") == nil)
      let first = PlayedStream(issue, worker, attemptOf: stream)
      #expect(first.request() && first.requestField("x-attempt") == "1" && first.requestField("x-first") == "yes")
      // The attempts of Envoy share one list of fields.
      let second = PlayedStream(issue, worker, attemptOf: stream, after: first)
      first.destroy()
      #expect(second.request() && second.requestField("x-attempt") == "2" && second.requestField("x-later") == "yes")
      #expect(second.requestField("x-first") == nil && second.requestField("x-attempt", 1) == nil)
      #expect(stream.respond() && stream.reply == nil)
    }

    @Test func `without an upstream filter, no request is sent`() async throws {
      let fixture = try await Self.fixture()
      let pipeline = try #require(fixture.open())
      let worker = EnvoyWorker()
      let stream = PlayedStream(pipeline, worker)
      #expect(!stream.request() && worker.turn() == 1)
      #expect(stream.reply == 502 && !stream.hasPassed(ofRequest: true))
    }

    @Test func `a response from a cluster without the upstream filter does not pass`() async throws {
      let fixture = try await Self.fixture()
      let pipeline = try #require(fixture.open())
      _ = try #require(fixture.open("issue"))
      let worker = EnvoyWorker()
      let stream = PlayedStream(pipeline, worker)
      #expect(stream.request() && !stream.respond() && worker.turn() == 1)
      #expect(stream.reply == 502)
      // What Envoy answers without an upstream passes.
      let other = PlayedStream(pipeline, worker)
      #expect(other.request() && other.respond(503, isLocal: true))
    }

    @Test func `without issue stages, an upstream filter lets each attempt pass`() async throws {
      let plugin = try await EnvoyFixture.plugin(request: #"sluice_set_request_header(host, exchange, "x-a", "1");"#)
      let fixture = try EnvoyFixture(plugin, "request")
      let (pipeline, issue) = (try #require(fixture.open()), try #require(fixture.open("issue")))
      let worker = EnvoyWorker()
      let stream = PlayedStream(pipeline, worker)
      #expect(stream.request())
      #expect(PlayedStream(issue, worker, attemptOf: stream).request() && stream.respond())
      #expect(PlayedStream(issue, worker).request())
    }

    @Test func `a client of gRPC learns that an issue stage has failed`() async throws {
      let plugin = try await EnvoyFixture.plugin(issue: #"return sluice_fail(host, exchange, "no", "no");"#)
      let fixture = try EnvoyFixture(plugin, "issue")
      let (pipeline, issue) = (try #require(fixture.open()), try #require(fixture.open("issue")))
      let worker = EnvoyWorker()
      let stream = PlayedStream(pipeline, worker, fields: [("content-type", "application/grpc")])
      #expect(stream.request())
      let attempt = PlayedStream(issue, worker, attemptOf: stream)
      #expect(!attempt.request())
      while attempt.reply == nil { if worker.turn() == 0 { break } }
      #expect(attempt.reply == 500 && attempt.responseField("grpc-status") == "2")
    }

    @Test func `an attempt that has not passed the pipeline fails`() async throws {
      let fixture = try await Self.fixture()
      let issue = try #require(fixture.open("issue"))
      let worker = EnvoyWorker()
      let attempt = PlayedStream(issue, worker)
      #expect(!attempt.request())
      #expect(worker.turn() == 1)
      #expect(attempt.reply == 500)
    }
  }

  @Suite struct Plans {
    private static func plugin(_ build: String) async throws -> PluginCompiler.Product {
      try await EnvoyFixture.plugin(request: "sluice_set_request_header(host, exchange, \"x-build\", \"\(build)\");")
    }

    @Test func `a new plan serves new streams, and a stream keeps its build`() async throws {
      let (old, new) = (try await Self.plugin("old"), try await Self.plugin("new"))
      let fixture = try EnvoyFixture(old, "request")
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      let before = PlayedStream(configuration, worker)
      #expect(before.request() && before.requestField("x-build") == "old")
      let number = try fixture.publish(EnvoyFixture.configuration(new, "request"), [new.path])
      try await fixture.waitForPlan(number)
      let after = PlayedStream(configuration, worker)
      #expect(after.request() && after.requestField("x-build") == "new")
      #expect(before.respond() && after.respond())
      #expect(fixture.status?["swaps"]?.integer == 1)
    }

    @Test func `streams and plans are counted among Envoy's metrics`() async throws {
      let plugin = try await EnvoyFixture.plugin(request: #"return sluice_fail(host, exchange, "closed", "closed");"#)
      let fixture = try EnvoyFixture(plugin, "request")
      let configuration = try #require(fixture.open())
      let before = ["transactions", "failures", "swaps"].map { player_metric("sluice_\($0)") }
      try await fixture.waitForPlan(
        try fixture.publish(EnvoyFixture.configuration(plugin, "request"), [plugin.path]))
      let worker = EnvoyWorker()
      let stream = PlayedStream(configuration, worker)
      #expect(!stream.request() && worker.turn() == 1)
      stream.destroy()
      let after = ["transactions", "failures", "swaps"].map { player_metric("sluice_\($0)") }
      #expect(zip(before, after).map { $1 - $0 } == [1, 1, 1] && player_metric("sluice_plan") == 2)
    }

    enum Damage: CaseIterable, CustomTestStringConvertible {
      case hash, elsewhere, writable, truncated, missing, configuration

      var testDescription: String { "\(self)" }

      var message: String {
        switch self {
        case .hash: "its SHA-256 is not the one that the plan names"
        case .elsewhere: "it must lead to plans/NUMBER"
        case .writable: "other users can write to it"
        case .truncated: "plan.json: line 1, column 20"
        case .missing: "No such file or directory"
        case .configuration: "no plugin is named"
        }
      }
    }

    @Test(arguments: Damage.allCases) func `a damaged plan is refused, and the earlier one serves`(_ damage: Damage)
      async throws
    {
      let (old, new) = (try await Self.plugin("old"), try await Self.plugin("new"))
      let fixture = try EnvoyFixture(old, "request")
      let configuration = try #require(fixture.open())
      _ = takeEnvoyLog()
      if damage == .elsewhere {
        try fixture.point("/tmp/1")
      } else {
        let text = EnvoyFixture.configuration(
          new, damage == .configuration ? "request\": [\"none\"], \"issue" : "request")
        try fixture.publish(text, [new.path]) { plan in
          switch damage {
          case .hash: try #require(rename(old.path, "\(plan)/0.so") == 0)
          case .writable: chmod(plan, 0o777)
          case .truncated: try #require(truncate("\(plan)/plan.json", 20) == 0)
          case .missing: unlink("\(plan)/0.so")
          case .elsewhere, .configuration: break
          }
        }
      }
      #expect(try await eventually { fixture.status?["refused"]?.integer == 1 })
      let reason = try #require(fixture.status?["lastRefusal"]?["reason"]?.string)
      #expect(reason.contains(damage.message), "\(reason)")
      #expect(takeEnvoyLog().contains("plan 1 serves on"))
      let worker = EnvoyWorker()
      let stream = PlayedStream(configuration, worker)
      #expect(stream.request() && stream.requestField("x-build") == "old")
    }

    @Test(arguments: [
      ("other", #"{"plan": "/p"}"#, #"filter_name is "other""#),
      ("pipeline", "", "filter_config must be"),
      ("pipeline", #"{"plan": "p"}"#, "it must be an absolute path"),
      ("pipeline", #"{"plan": "/p", "more": 1}"#, "no other key"),
      ("pipeline", #"{"plan": "/nowhere"}"#, "/nowhere has no plan"),
    ])
    func `a configuration that is not valid is refused`(_ filter: String, _ text: String, _ message: String) {
      _ = takeEnvoyLog()
      #expect(player_configuration_new(filter, text) == nil)
      let log = takeEnvoyLog()
      #expect(log.contains(message), "\(log)")
    }

    @Test func `configurations of one folder share a pipeline, and the last one ends it`() async throws {
      let plugin = try await Self.plugin("old")
      let fixture = try EnvoyFixture(plugin, "request")
      #expect(fixture.open() != nil && fixture.open("issue") != nil)
      #expect(fixture.status != nil)
      fixture.close()
      #expect(fixture.status == nil)
      // It can be opened again.
      let configuration = try #require(fixture.open())
      let worker = EnvoyWorker()
      #expect(PlayedStream(configuration, worker).request())
    }
  }

  @Suite struct Load {
    @Test func `streams of four workers are suspended, resumed and destroyed while plans change`() async throws {
      let plugin = try await PluginCompiler.compile("resumes-elsewhere", name: "stage")
      let fixture = try EnvoyFixture(plugin, "request")
      let configuration = Unchecked(try #require(fixture.open()))
      let rounds = Sanitizer.isOn ? 20 : 100
      let threads = (0..<4).map { number in
        Task.detached { Self.play(configuration.value, rounds: rounds, seed: number) }
      }
      for _ in 0..<5 {
        let number = try fixture.publish(EnvoyFixture.configuration(plugin, "request"), [plugin.path])
        try await fixture.waitForPlan(number)
      }
      for thread in threads { #expect(await thread.value == rounds) }
    }

    /// Plays streams. Returns how many ended as they should.
    private static func play(_ configuration: UnsafeRawPointer, rounds: Int, seed: Int) -> Int {
      let worker = EnvoyWorker()
      var good = 0
      for round in 0..<rounds {
        let streams = (0..<8).map { _ in PlayedStream(configuration, worker) }
        for stream in streams { stream.request() }
        // Some are gone before they are resumed.
        for (index, stream) in streams.enumerated() where (index + round + seed).isMultiple(of: 3) { stream.destroy() }
        let kept = streams.enumerated().filter { !($0.offset + round + seed).isMultiple(of: 3) }.map(\.element)
        while kept.contains(where: { !$0.hasPassed(ofRequest: true) }) { if worker.turn() == 0 { return good } }
        if kept.allSatisfy({ $0.requestField("x-late") == "yes" }) { good += 1 }
      }
      return good
    }
  }
}

/// A value that tests pass between threads.
private struct Unchecked<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
