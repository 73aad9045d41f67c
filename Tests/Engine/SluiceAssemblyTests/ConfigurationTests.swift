import Glibc
import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import Testing

@Suite struct ConfigurationTests {
  private static func read(_ text: String) throws(ConfigurationError) -> Configuration {
    try Configuration(text: Array(text.utf8), file: "conf/sluice.json")
  }

  private static func error(_ text: String) -> String {
    do {
      _ = try read(text)
      return "no error"
    } catch { return error.description }
  }

  @Test func `a full configuration is read into its types`() throws {
    let configuration = try Self.read(
      """
      {"plugins": {"auth": {"library": "plugins/libauth.so", "deadline": "200ms", "onFault": "skip", "config": {"a": 1}}},
       "request": [{"plugin": "auth", "match": {"hosts": ["*.example.com"], "methods": ["GET"], "paths": ["/v1/*"]}}],
       "response": ["auth"], "deadline": "1.5s",
       "transport": {"baseURL": "https://api.example.com", "timeout": "30s", "connectTimeout": "5s", "loops": 2,
                     "maxConnectionsPerHost": 64, "httpVersion": "2", "maxRequestBytes": 10, "maxResponseBytes": 20,
                     "spillBytes": 30, "proxy": null, "tls": {"ca": "ca.pem", "cert": null, "key": null, "verify": true}},
       "retry": {"maxAttempts": 5, "statuses": [429, "5xx"], "methods": ["GET", "POST"], "connectionErrors": true,
                 "backoff": {"base": "250ms", "max": "1m"}, "budget": 0.5}, "validate": {"statuses": ["2xx", 304, "400-404"]},
       "requestId": {"header": "X-Call"}, "redact": {"headers": ["X-API-Key"], "query": ["token"]}, "store": null,
       "limits": {"transactions": 7, "blockingCalls": 8}, "watchdog": {"limit": "2s", "kill": "0s"}, "control": null}
      """)
    let plugin = try #require(configuration.plugins.first)
    #expect(plugin.name == "auth")
    #expect(plugin.deadline == .milliseconds(200))
    #expect(plugin.onFault == .skip)
    guard case .library(let path) = plugin.source else { throw CancellationError() }
    #expect(path == "conf/plugins/libauth.so")
    let request = Request(url: HTTPURL("https://a.example.com/v1/x"))
    #expect(configuration.request.first?.match?.matches(request) == true)
    #expect(configuration.deadline == .milliseconds(1500))
    #expect(configuration.transport.tls.ca == "conf/ca.pem")
    #expect(configuration.transport.loops == 2)
    #expect(configuration.maximumAttempts == 5)
    #expect(
      configuration.retry
        == RetryPolicy(
          statuses: StatusSet([429...429, 500...599]), methods: ["GET", "POST"], connectionErrors: .always,
          backoff: Backoff(base: .milliseconds(250), maximum: .seconds(60)), budget: 0.5))
    #expect([204, 304, 404].allSatisfy { configuration.acceptedStatuses.contains($0) })
    #expect(!configuration.acceptedStatuses.contains(301))
    #expect(configuration.redaction.headers == ["x-api-key"])
    #expect(configuration.limits.transactions == 7 && configuration.limits.blockingCalls == 8)
    #expect(Configuration().limits.transactions == 65_536 && Configuration().limits.blockingCalls == 1_024)
    #expect(configuration.stallLimit == .seconds(2) && configuration.stallKillLimit == .zero)
    #expect(Configuration().stallKillLimit == .seconds(5))
  }

  @Test func `a base URL can be an IRI`() throws {
    let configuration = try Self.read(#"{"transport": {"baseURL": "https://bücher.example/ä/"}}"#)
    #expect(configuration.baseURL?.string == "https://xn--bcher-kva.example/%C3%A4/")
  }

  @Test(arguments: [
    ("{\n\"plugin\": {}}", "conf/sluice.json:2: plugin: unknown key \"plugin\"; did you mean \"plugins\"?"),
    ("{\"deadline\": 5}", "conf/sluice.json:1: deadline: expected a duration such as"),
    ("{\"deadline\": \"5\"}", "found \"5\""),
    ("{\"deadline\": \"0s\"}", "deadline: expected a duration above zero, found \"0s\""),
    ("{\"transport\": {\"timeout\": \"0.0ms\"}}", "transport.timeout: expected a duration above zero"),
    ("{\"transport\": {\"connectTimeout\": \"0h\"}}", "transport.connectTimeout: expected a duration above zero"),
    ("{\"plugins\": {\"a\": {\"builtin\": \"metrics\", \"deadline\": \"0s\"}}}", "plugins.a.deadline: expected a"),
    ("{\"watchdog\": {\"abandon\": \"0s\"}}", "watchdog.abandon: expected a duration above zero, found \"0s\""),
    ("{\"limits\": {\"transactions\": 0}}", "limits.transactions: expected an integer from 1 to 1000000"),
    ("{\"limits\": {\"blockingCalls\": 0}}", "limits.blockingCalls: expected an integer from 1 to 1000000"),
    ("{\"plugins\": []}", "plugins: expected an object, found a list"),
    (
      "{\"plugins\": {\"a\": {}}}",
      "plugins.a: expected \"library\" with the path of a plugin, \"builtin\" with its name, or \"release\""
    ),
    ("{\"plugins\": {\"a\": {\"library\": \"x.so\", \"builtin\": \"y\"}}}", "has both"),
    ("{\"plugins\": {\"a\": {\"builtin\": \"nope\"}}}", "no built-in is named \"nope\""),
    ("{\"plugins\": {\"a b\": {\"library\": \"x.so\"}}}", "without spaces"),
    ("{\"request\": [\"auth\"]}", "request[0]: no plugin is named \"auth\"; add it under \"plugins\""),
    ("{\"request\": [1]}", "request[0]: expected a plugin's name, or an object with \"plugin\", found an integer"),
    (
      "{\"plugins\": {\"a\": {\"library\": \"x.so\"}}, \"request\": [{\"plugin\": \"a\", \"match\": {\"paths\": [\"/a/../b\"]}}]}",
      "request[0].match.paths[0]: the pattern matches nothing"
    ),
    ("{\"transport\": {\"loops\": 0}}", "transport.loops: expected an integer from 1 to 128, found 0"),
    ("{\"transport\": {\"baseURL\": \"ftp://x\"}}", "transport.baseURL: scheme \"ftp\" is not supported"),
    ("{\"transport\": {\"baseURL\": \"http://💩.example\"}}", "transport.baseURL: its host \"💩.example\""),
    ("{\"transport\": {\"httpVersion\": \"3\"}}", "expected \"1.0\", \"1.1\", \"2\" or \"2-prior-knowledge\""),
    ("{\"transport\": {\"engine\": \"curl\"}}", "transport.engine: \"curl\" is not supported since version 0.1.0"),
    ("{\"transport\": {\"engine\": \"Wire\"}}", "transport.engine: expected \"auto\" or \"wire\", found \"Wire\""),
    ("{\"transport\": {\"tls\": {\"verify\": \"no\"}}}", "transport.tls.verify: expected true or false"),
    ("{\"transport\": {\"tls\": {\"key\": \"k\"}}}", "transport.tls.key: a key without \"cert\" has no effect"),
    ("{\"validate\": {\"statuses\": [\"9\"]}}", "validate.statuses[0]: expected a status"),
    ("{\"requestId\": {\"header\": \"a b\"}}", "requestId.header: expected the name of a header"),
    ("{\"watchdog\": {\"kill\": \"10ms\"}}", "watchdog.kill: expected at least \"1s\", found \"10ms\""),
    ("{\"control\": {}}", "control: expected a path, true or false, found an object"),
    ("{\"control\": \"\"}", "control: expected a path, found an empty string"),
    ("{\"plugins\": {\"a\": {\"library\": \"x.so\"},\n \"a\": {\"library\": \"y.so\"}}}", "conf/sluice.json:2"),
    ("{\"deadline\": ", "conf/sluice.json:1: not JSON"),
    ("", "not JSON"),
    ("[]", "expected an object, found a list"),
  ])
  func `an invalid configuration is refused with file, line, key and what was expected`(text: String, words: String) {
    let error = Self.error(text)
    #expect(error.contains(words), "\(error)")
  }

  @Test func `the error for an environment variable that is not set names the variable`() {
    let error = Self.error(
      "{\"plugins\": {\"a\": {\"library\": \"x.so\", \"config\": {\"token\": {\"env\": \"SLUICE_TEST_UNSET\"}}}}}")
    #expect(
      error.contains("plugins.a.config.token: the environment variable \"SLUICE_TEST_UNSET\" is not set"), "\(error)")
  }

  @Test func `a value read from a file is the file's text without its last line break`() throws {
    let folder = try TemporaryDirectory()
    _ = try folder.write("s3cret\n", to: "token")
    let path = try folder.write(
      "{\"plugins\": {\"a\": {\"library\": \"x.so\", \"config\": {\"list\": [{\"file\": \"token\"}]}}}}",
      to: "sluice.json"
    )
    let configuration = try Configuration(file: path)
    #expect(configuration.plugins.first?.config["list"]?[0]?.string == "s3cret")
  }

  @Test func `the error for a missing configuration file names the file`() {
    do {
      _ = try Configuration(file: "/nonexistent/sluice.json")
      Issue.record("expected an error")
    } catch {
      #expect(error.description == "/nonexistent/sluice.json: cannot read it: No such file or directory")
    }
  }

  @Test func `a configuration that is cut off anywhere is refused and never crashes`() {
    let text = "{\"plugins\": {\"a\": {\"library\": \"x.so\"}}, \"request\": [\"a\"], \"deadline\": \"5s\"}"
    for length in 0..<text.utf8.count { #expect(Self.error(String(text.prefix(length))) != "no error") }
  }

  @Test(arguments: [
    ("htp://p:3128", "the known schemes are http"), ("p:99999", "its port is not a number from 1 to 65535"),
    ("http://u:secret@x@p", "write %40 for @"),
  ])
  func `the URL of a proxy is checked when it is read, and its password stays hidden`(_ url: String, _ words: String) {
    let error = Self.error("{\"transport\":\n {\"proxy\": \"\(url)\"}}")
    #expect(
      error.hasPrefix("conf/sluice.json:2: transport.proxy: the URL of the proxy ") && error.contains(words), "\(error)"
    )
    #expect(!error.contains("secret"), "\(error)")
  }

  /// A value for each key of `transport` that differs from the default.
  private static let transportKeys = [
    "baseURL": "\"http://a\"", "timeout": "\"7s\"", "connectTimeout": "\"7s\"", "loops": "7",
    "maxConnectionsPerHost": "7", "httpVersion": "\"1.1\"", "engine": "\"auto\"", "decode": "false",
    "maxHeadBytes": "7777", "maxHeadFields": "77", "maxInformationalResponses": "7", "maxChunkExtensionBytes": "7",
    "maxRequestBytes": "7", "maxResponseBytes": "7", "spillBytes": "7", "proxy": "\"http://a\"",
    "userAgent": "\"a\"", "tls": "{\"verify\": false}",
  ]
  /// The keys that take effect with a reload, because they travel with the pipeline or with each transfer.
  private static let reloadableKeys: Set = ["baseURL", "timeout", "maxResponseBytes", "spillBytes", "engine"]

  @Test func `a key of transport that a running engine does not read again is fixed until its next start`() throws {
    let schema = try JSONValue(parsing: FileTree.read(RepositoryRoot.path("docs/schema/configuration.schema.json")))
    let keys = Set(try #require(schema["definitions"]?["transport"]?["properties"]).members.map(\.key))
    #expect(keys == Set(Self.transportKeys.keys))
    for (key, value) in Self.transportKeys {
      let changed = try Self.read("{\"transport\": {\"\(key)\": \(value)}}")
      #expect(changed.fixedDifferences(from: Configuration()).isEmpty == Self.reloadableKeys.contains(key), "\(key)")
    }
  }
}
