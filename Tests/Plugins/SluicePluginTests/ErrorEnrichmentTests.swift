import CSluice
import SluiceJSON
import SluiceTestKit
import Testing

/// The built library of the plugin error-enrichment, used through its C tables.
struct ErrorEnrichmentTests {
  private func enriched(
    _ body: JSONValue, status: UInt32 = 503, type: String = "application/problem+json",
    configuration: JSONValue? = nil
  ) throws -> StubExchange {
    let instance = try StubInstance(try entryPoint(of: "error-enrichment"), configuration)
    let exchange = StubExchange()
    exchange.status = status
    exchange.url = "https://me:secret@example.com/a"
    exchange.context.request_id = exchange.lend("r-1".utf8)
    exchange.context.method = exchange.lend("GET".utf8)
    exchange.sides[1].fields = [("content-type", type)]
    exchange.sides[1].document = ["status": 503, "body": ["json": body]]
    #expect(instance.response(exchange) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    return exchange
  }

  private func body(_ exchange: StubExchange) -> JSONValue? {
    exchange.sides[1].document?["body"]?["json"]
  }

  @Test func `an error response gets the header, and its JSON object gets a member with facts about the request`()
    throws
  {
    let exchange = try enriched(["title": "Out of stock"])
    let id = "00000000-0000-0000-0000-000000000000"
    #expect(exchange.header(1, "x-sluice-transaction") == id)
    #expect(body(exchange)?["title"] == "Out of stock")
    #expect(
      body(exchange)?["sluice"]
        == [
          "transaction": JSONValue(id), "requestId": "r-1", "attempt": 0, "method": "GET",
          "url": "https://REDACTED:REDACTED@example.com/a",
        ])
  }

  @Test func `a response with a success status is not changed`() throws {
    let exchange = try enriched(["title": "fine"], status: 200)
    #expect(exchange.header(1, "x-sluice-transaction") == nil)
    #expect(body(exchange) == ["title": "fine"])
  }

  @Test func `a body that is not a JSON object, or already has the member, stays unchanged`() throws {
    #expect(body(try enriched(["a"])) == ["a"])
    #expect(body(try enriched(["sluice": 1])) == ["sluice": 1])
    #expect(body(try enriched(["a": 1], type: "text/plain")) == ["a": 1])
  }

  @Test func `statuses, header and key can be configured, and null disables each of them`() throws {
    let quiet = try enriched(["a": 1], configuration: ["statuses": ["503"], "header": .null, "key": "trace"])
    #expect(quiet.header(1, "x-sluice-transaction") == nil)
    #expect(body(quiet)?["trace"]?["requestId"] == "r-1")
    #expect(body(try enriched(["a": 1], configuration: ["statuses": ["4xx"]])) == ["a": 1])
  }

  @Test func `an invalid status is refused, and the error names its place`() throws {
    let entry = try entryPoint(of: "error-enrichment")
    let refusal = #expect(throws: StubRefusal.self) { try StubInstance(entry, ["statuses": ["5xx", "6x"]]) }
    #expect(
      refusal?.message == #"config key "statuses[1]": expected a status or a class such as "4xx", found "6x""#)
  }

  @Test func `a failure is not changed, and the log line about it contains no password`() throws {
    let instance = try StubInstance(try entryPoint(of: "error-enrichment"))
    let exchange = StubExchange()
    exchange.url = "https://me:secret@example.com/a"
    let verdict = instance.onLoop(exchange) { plugin, pointer in
      var failure = sluice_failure()
      failure.code = exchange.lend("dns".utf8)
      failure.message = exchange.lend("no such host".utf8)
      return instance.interceptor?.on_failure(plugin, pointer, &failure) ?? -1
    }
    #expect(verdict == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    let line = try #require(instance.host.log.value.first)
    #expect(line.contains("got no response: dns: no such host"))
    #expect(!line.contains("secret"))
  }
}
