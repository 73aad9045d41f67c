import CSluice
import SluiceJSON
import SluicePlugin
import SluiceTestKit
import Testing

struct InterceptorTests {
  @Test func `a method that does not wait answers at once, without a token and without post`() throws {
    let instance = try Scripted.instance { request, _ in
      request.headers["x-team"] = "red"
      request.method = "PUT"
      request.url = "https://other.example.com/"
      request.body = [1, 2]
    }
    let exchange = StubExchange()
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    #expect(exchange.header(0, "X-Team") == "red")
    #expect(exchange.method == "PUT")
    #expect(exchange.url == "https://other.example.com/")
    #expect(exchange.sides[0].body == [1, 2])
    #expect(exchange.token == nil)
    #expect(instance.host.postCount.value == 0)
  }

  @Test func `a stage can read, add, remove, list and mark headers`() throws {
    let instance = try Scripted.instance { request, _ in
      #expect(request.headers.values("ACCEPT") == ["a", "b"])
      try request.headers.add("c", for: "accept")
      #expect(request.headers.map(\.value) == ["a", "b", "c"])
      #expect(request.headers.remove("accept"))
      #expect(!request.headers.remove("accept"))
      request.headers["authorization"] = "Bearer x"
      request.headers.setSensitive("authorization")
      request.headers["x-gone"] = nil
    }
    let exchange = StubExchange()
    exchange.sides[0].fields = [("Accept", "a"), ("accept", "b")]
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    #expect(exchange.sides[0].fields.map(\.name) == ["authorization"])
    #expect(exchange.sensitive == ["authorization"])
  }

  @Test func `a stage changes the document in place`() throws {
    let instance = try Scripted.instance { request, _ in
      request.document(for: .writing, body: true)?["body"]?["json"]?["added"] = true
    }
    let exchange = StubExchange()
    exchange.sides[0].document = ["body": ["json": ["name": "a"]]]
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    #expect(exchange.sides[0].document == ["body": ["json": ["name": "a", "added": true]]])
  }

  @Test func `a method that throws RetryRequestError asks for a retry with the delay of the error`() throws {
    let instance = try Scripted.instance { _, _ in throw RetryRequestError(after: .milliseconds(1500)) }
    let exchange = StubExchange()
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_RETRY))
    #expect(exchange.retryDelay == 1_500_000_000)
  }

  @Test func `a StageFailure keeps its code, and any other error becomes stage_failed`() throws {
    struct Odd: Error, CustomStringConvertible { var description: String { "the key file is empty" } }
    let coded = try Scripted.instance(named: "coded") { _, _ in throw StageFailure(code: "no_token", message: "none") }
    let odd = try Scripted.instance(named: "odd") { _, _ in throw Odd() }
    let (first, second) = (StubExchange(), StubExchange())
    #expect(coded.request(first) == sluice_verdict(SLUICE_VERDICT_FAIL))
    #expect(odd.request(second) == sluice_verdict(SLUICE_VERDICT_FAIL))
    #expect(first.failure?.code == "no_token")
    #expect(second.failure?.code == "stage_failed")
    #expect(second.failure?.message == "the key file is empty")
  }

  @Test func `a stage can answer a request itself`() throws {
    let instance = try Scripted.instance { request, _ in
      let response = request.respond(status: 403)
      response.headers["content-type"] = "text/plain"
      response.body = Array("no".utf8)
    }
    let exchange = StubExchange()
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_RESPOND))
    #expect(exchange.status == 403)
    #expect(exchange.header(1, "content-type") == "text/plain")
    #expect(exchange.sides[1].body == Array("no".utf8))
  }

  @Test func `a header that the host refuses fails the call`() throws {
    let instance = try Scripted.instance { request, _ in request.headers["x-bad"] = "a\nb" }
    let exchange = StubExchange()
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_FAIL))
    #expect(exchange.failure?.message == "header \"x-bad\": the host refused a malformed value")
  }

  @Test func `a refused header does not fail the call if the plugin catches the error`() throws {
    let instance = try Scripted.instance { request, _ in
      #expect(throws: StageFailure.self) { try request.headers.set("x-bad", to: "a\nb") }
    }
    #expect(instance.request(StubExchange()) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
  }

  @Test func `the context has the facts of the call`() throws {
    let instance = try Scripted.instance { _, context in
      #expect(context.path == "/v1/items")
      #expect(context.method == "GET")
      #expect(context.attemptNumber == 2)
      #expect(context.hop == 1)
      #expect(context.requestID == "r-1")
      #expect(context.transactionID.description == "00112233-4455-4677-8899-aabbccddeeff")
      #expect(context.elapsed == .milliseconds(5))
      #expect(context.remaining == nil)
      #expect(context.parent.traceparent == "00-1")
      #expect(context.parent.tracestate == nil)
    }
    let exchange = StubExchange()
    exchange.context.attempt = 2
    exchange.context.hop = 1
    exchange.context.transaction_id = (
      0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x46, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff
    )
    exchange.context.request_id = exchange.lend("r-1".utf8)
    exchange.context.method = exchange.lend("GET".utf8)
    exchange.context.path = exchange.lend("/v1/items".utf8)
    exchange.context.elapsed_ns = 5_000_000
    exchange.context.parent_traceparent = exchange.lend("00-1".utf8)
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
  }

  @Test func `a response stage can change the response and read the request`() throws {
    let instance = try Scripted.instance(
      Scripted.Script(response: { response, context in
        #expect(response.status == 500)
        #expect(response.request.headers["x"] == "1")
        #expect(context.duration == .seconds(1))
        response.status = 503
        response.headers["x-seen"] = "yes"
      }))
    let exchange = StubExchange()
    exchange.status = 500
    exchange.sides[0].fields = [("x", "1")]
    exchange.context.elapsed_ns = 1_000_000_000
    #expect(instance.response(exchange) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    #expect(exchange.status == 503)
    #expect(exchange.header(1, "x-seen") == "yes")
  }

  @Test func `an issue stage can set headers, but cannot retry`() throws {
    let instance = try Scripted.instance(
      Scripted.Script(issue: { request, context in
        if context.hop == 1 { throw RetryRequestError() }
        request.headers["traceparent"] = "00"
      }))
    let (first, second) = (StubExchange(), StubExchange())
    second.context.hop = 1
    #expect(instance.issue(first) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    #expect(first.header(0, "traceparent") == "00")
    #expect(instance.issue(second) == sluice_verdict(SLUICE_VERDICT_FAIL))
  }

  @Test func `a failure stage can answer with a response`() throws {
    let instance = try Scripted.instance(
      Scripted.Script(failure: { failure, request, _ in
        #expect(failure.code == "connect")
        #expect(failure.stage == nil)
        #expect(failure.isBeforeSending)
        request.respond(status: 200).headers["warning"] = "stale"
      }))
    let exchange = StubExchange()
    let verdict = instance.onLoop(exchange) { plugin, pointer in
      var failure = sluice_failure()
      failure.is_before_sending = 1
      failure.code = exchange.lend("connect".utf8)
      return instance.interceptor?.on_failure(plugin, pointer, &failure) ?? -1
    }
    #expect(verdict == sluice_verdict(SLUICE_VERDICT_RESPOND))
    #expect(exchange.header(1, "warning") == "stale")
  }

  @Test func `mayCall passes the ABI's number of a function to the host, and has no side effect`() throws {
    let numbers = [
      SLUICE_CALL_WRITE_REQUEST_HEADERS, SLUICE_CALL_WRITE_REQUEST_LINE, SLUICE_CALL_WRITE_REQUEST_BODY,
      SLUICE_CALL_WRITE_RESPONSE, SLUICE_CALL_WRITE_RESPONSE_BODY, SLUICE_CALL_READ_DOCUMENT, SLUICE_CALL_WRITE_PIECE,
      SLUICE_CALL_RESPOND, SLUICE_CALL_RETRY, SLUICE_CALL_FAIL, SLUICE_CALL_SUSPEND, SLUICE_CALL_SET_LIMIT,
      SLUICE_CALL_SET_ATTRIBUTE, SLUICE_CALL_ANSWER_CHALLENGE,
    ].map { Int($0) }
    #expect(ExchangeFunction.allCases.map { Int($0.rawValue) } == numbers)
    let instance = try Scripted.instance(
      Scripted.Script(
        request: { request, _ in
          #expect(ExchangeFunction.allCases.filter { !request.mayCall($0) } == [.retry, .setLimit, .answerChallenge])
        },
        response: { response, _ in
          #expect(response.mayCall(.retry) && response.request.mayCall(.retry))
          // The call has already taken a token, so it may only suspend.
          #expect(response.mayCall(.suspend) && !response.mayCall(.writeResponse))
        }))
    let exchange = StubExchange()
    exchange.permissions = [
      9: Int(SLUICE_STATUS_REFUSED), 12: Int(SLUICE_STATUS_UNSUPPORTED), 14: Int(SLUICE_STATUS_LIMIT),
    ]
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    exchange.permissions = [4: Int(SLUICE_STATUS_ALREADY), 11: Int(SLUICE_STATUS_ALREADY)]
    #expect(instance.response(exchange) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    #expect(exchange.retryDelay == nil && exchange.failure == nil && exchange.violations == 0)
  }

  @Test func `after the end of the call, mayCall returns false without asking the host`() throws {
    let kept = Watched<StageRequest?>(nil)
    let instance = try Scripted.instance { request, _ in kept.update { $0 = request } }
    let exchange = StubExchange()
    _ = instance.request(exchange)
    #expect(kept.value?.mayCall(.fail) == false)
    #expect(exchange.violations == 0)
  }

  @Test func `a handle has no effect after the end of its call, and its late use is logged once`() throws {
    let kept = Watched<StageRequest?>(nil)
    let instance = try Scripted.instance { request, _ in kept.update { $0 = request } }
    let exchange = StubExchange()
    _ = instance.request(exchange)
    #expect(kept.value?.headers["x"] == nil)
    kept.value?.headers["x"] = "1"
    #expect(kept.value?.url == "")
    #expect(exchange.violations == 0)
    #expect(instance.host.log.value.count == 1)
    instance.end()
    kept.value?.method = "PUT"
  }
}
