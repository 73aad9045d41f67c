import Sluice
import Testing

/// Settings that the built-in `headers` refuses, and the error messages.
@Suite struct HeadersConfigurationTests {
  private static func error(_ config: String, baseURL: String = "http://a.example") -> String {
    let text = """
      {"transport": {"baseURL": "\(baseURL)"},
       "plugins": {
         "trace": {"builtin": "headers", "config": \(config)}},
       "issue": ["trace"]}
      """
    do {
      _ = try Engine(Configuration(text: Array(text.utf8), file: "sluice.json"))
      return "no error"
    } catch { return "\(error)" }
  }

  @Test(arguments: [
    ("{\"host\": []}", "sluice.json:3: plugins.trace.config.host: unknown key \"host\"; did you mean \"hosts\"?"),
    ("[]", "plugins.trace.config: expected an object, found a list"),
    ("{\"hosts\": \"a\"}", "plugins.trace.config.hosts: expected a list"),
    ("{\"hosts\": [\"a/b\"]}", "plugins.trace.config.hosts[0]: expected an exact host, *.suffix or *"),
    (
      "{\"exclude\": [\"💩.example\"]}",
      "config.exclude[0]: expected an exact host, *.suffix or *, with an optional scheme:// before and :port after it; the "
        + "name has a character that is not allowed in a name"
    ),
    ("{\"hosts\": [\"a*\"]}", "plugins.trace.config.hosts[0]: expected an exact host"),
    (
      "{\"propagators\": [\"b4\"]}",
      "plugins.trace.config.propagators[0]: no propagator is named \"b4\"; there are tracecontext, baggage, b3, b3multi, "
        + "datadog, xray"
    ),
    ("{\"propagators\": [\"baggage\", \"baggage\"]}", "config.propagators[1]: \"baggage\" occurs twice"),
    ("{\"sampler\": \"always_on\"}", "config.sampler: expected an object, found a string"),
    ("{\"sampler\": {}}", "config.sampler: \"type\" is missing"),
    ("{\"sampler\": {\"type\": \"on\"}}", "config.sampler.type: expected one of \"always_on\", \"always_off\""),
    ("{\"sampler\": {\"kind\": 1}}", "config.sampler.kind: unknown key"),
    ("{\"sampler\": {\"type\": \"traceidratio\"}}", "config.sampler: \"ratio\" is missing"),
    ("{\"sampler\": {\"type\": \"traceidratio\", \"ratio\": 2}}", "config.sampler.ratio: expected a number from 0"),
    (
      "{\"sampler\": {\"type\": \"always_on\", \"ratio\": 1}}", "config.sampler.ratio: \"always_on\" takes no ratio"
    ),
    ("{\"sampledOnly\": 1}", "config.sampledOnly: expected true or false"),
    ("{\"disabled\": \"yes\"}", "config.disabled: expected true or false"),
    ("{\"requestId\": {\"header\": \"a b\"}}", "config.requestId.header: expected the name of a header"),
    ("{\"requestId\": {\"name\": \"a\"}}", "config.requestId.name: unknown key"),
    (
      "{\"sessionId\": {\"header\": \"Transfer-Encoding\"}}",
      "config.sessionId.header: \"Transfer-Encoding\" belongs to"
    ),
    ("{\"hosts\": [{\"send\": []}]}", "config.hosts[0]: \"host\" is missing"),
    ("{\"hosts\": [{\"host\": \"a\", \"kinds\": []}]}", "config.hosts[0].kinds: unknown key"),
    (
      "{\"hosts\": [{\"host\": \"a\", \"send\": [\"traces\"]}]}",
      "config.hosts[0].send[0]: expected one of \"trace\", \"baggage\", \"requestId\", \"sessionId\", \"static\""
    ),
    ("{\"hosts\": [{\"host\": \"a\", \"send\": \"trace\"}]}", "config.hosts[0].send: expected a list"),
    ("{\"exclude\": [\"a/b\"]}", "config.exclude[0]: expected an exact host, *.suffix or *"),
    ("{\"signed\": true}", "config.signed: expected a string"),
    ("{\"signed\": \"no\"}", "config.signed: expected one of \"skip\", \"inject\", found \"no\""),
    ("{\"sessionId\": {\"rotateAfterIdle\": 30}}", "config.sessionId.rotateAfterIdle: expected a duration"),
    ("{\"sessionId\": {\"rotateAfterIdle\": \"0s\"}}", "config.sessionId.rotateAfterIdle: expected a time above zero"),
    (
      "{\"sessionId\": {\"rotateAfterIdle\": \"1m\", \"value\": \"a\"}}",
      "config.sessionId.rotateAfterIdle: a session id with a \"value\" never changes"
    ),
    ("{\"requestId\": {\"header\": \"Connection\"}}", "config.requestId.header: \"Connection\" belongs to"),
    ("{\"sessionId\": {\"value\": \"a\\nb\"}}", "config.sessionId.value: expected the value of a header"),
    ("{\"static\": {\"a b\": \"1\"}}", "expected the name of a header, found \"a b\""),
    ("{\"static\": {\"X-A\": \"1\\r\\n\"}}", "config.static.X-A: expected the value of a header"),
    ("{\"static\": {\"X-A\": 1}}", "config.static.X-A: expected a string, found an integer"),
    ("{\"static\": {\"Content-Length\": \"1\"}}", "config.static.Content-Length: \"Content-Length\" belongs to"),
    ("{\"static\": {\"X-A\": \"1\", \"x-a\": \"2\"}}", "config.static.x-a: this stage already sets \"x-a\""),
    ("{\"static\": {\"Traceparent\": \"1\"}}", "config.static.Traceparent: this stage already sets \"Traceparent\""),
    ("{\"static\": {\"x-request-id\": \"1\"}}", "this stage already sets \"x-request-id\""),
    (
      "{\"existing\": \"merge\"}",
      "config.existing: expected one of \"keep\", \"replace\", \"refuse\", found \"merge\""
    ),
  ])
  func `an invalid setting is refused with line, key and what was expected`(config: String, words: String) {
    let error = Self.error(config)
    #expect(error.contains(words), "\(error)")
  }

  @Test(arguments: ["Connection", "Content-Length", "a b", "X-Id\r\n"])
  func `the stage refuses a requestIDHeader that cannot be set`(name: String) throws {
    var configuration = try Configuration(
      text: Array("{\"plugins\": {\"trace\": {\"builtin\": \"headers\"}}, \"issue\": [\"trace\"]}".utf8))
    configuration.requestIDHeader = name
    #expect(throws: EngineError.self) { try Engine(configuration) }
  }

  @Test func `the stage headers is allowed only in the list issue`() throws {
    for list in ["request", "response", "tracers"] {
      let text = "{\"plugins\": {\"trace\": {\"builtin\": \"headers\"}}, \"\(list)\": [\"trace\"]}"
      let configuration = try Configuration(text: Array(text.utf8))
      let error = #expect(throws: EngineError.self) { try Engine(configuration) }
      #expect(error?.description.contains("\(list)[0]: plugin \"trace\" is in \"\(list)\" but") == true)
    }
  }
}
