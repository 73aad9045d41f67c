import Sluice
import SluiceJSON
import SluiceJSONSchema
import SluiceTestKit
import Testing

/// Compares `docs/schema/configuration.schema.json` with the code that reads configurations. An editor that uses the
/// schema must not contradict this code.
@Suite struct ConfigurationSchemaTests {
  private static let schema = Result {
    let path = RepositoryRoot.path("docs/schema/configuration.schema.json")
    return try JSONSchema(JSONValue(parsing: FileTree.read(path), options: .rejectDuplicates))
  }

  private static func reading(_ text: String) -> String? {
    do {
      _ = try Configuration(
        text: Array(text.utf8), file: RepositoryRoot.path("sluice.json"),
        installedPlugins: InstalledPlugins(in: BuiltProducts.directory))
      return nil
    } catch { return error.description }
  }

  private static func plugin(_ members: String) -> String { "{\"plugins\": {\"a\": {\(members)}}}" }
  private static func update(_ members: String) -> String { "{\"update\": {\(members)}}" }
  private static func release(_ members: String) -> String {
    "{\"update\": {\"url\": \"http://a\", \"root\": \"root.json\"}, \"plugins\": {\"a\": {\(members)}}}"
  }
  private static func stage(_ stage: String) -> String {
    "{\"plugins\": {\"a\": {\"library\": \"a.so\"}}, \"request\": [\(stage)]}"
  }

  private static let accepted =
    [
      "{}",
      """
      {"plugins": null, "request": null, "issue": null, "response": null, "tracers": null, "deadline": null,
       "transport": null, "retry": null, "redirects": null, "validate": null, "requestId": null, "redact": null,
       "swap": null, "store": null, "control": null}
      """,
      #"{"plugins": {}}"#,
      #"{"deadline": "1.5s"}"#,
      #"{"deadline": "12h"}"#,
      plugin(#""library": "a.so""#),
      plugin(#""library": {"file": "LICENSE"}"#), plugin(#""library": "bearer-auth""#),
      plugin(#""library": "a/b""#), plugin(#""library": ".so""#), plugin(#""library": "/""#),
      plugin(#""library": "a.so", "builtin": null"#),
      plugin(#""builtin": "headers""#), plugin(#""library": null, "builtin": "metrics""#),
      plugin(#""library": "a.so", "config": null, "deadline": null, "onFault": null, "delivery": null"#),
      plugin(#""library": "a.so", "config": [1, {"env": 2}, {"env": "PATH", "b": 1}], "onFault": "skip""#),
      plugin(#""library": "a.so", "deadline": "200ms", "onFault": "fail", "delivery": "inline""#),
      plugin(#""library": "a.so", "delivery": "queued""#),
      plugin(#""library": "a.so", "allow": null"#), plugin(#""library": "a.so", "allow": []"#),
      plugin(#""library": "a.so", "allow": ["executableStack", "writableCode"]"#),
      #"{"swap": {"trial": "0s"}}"#, #"{"swap": {"trial": "20s", "drain": "1s"}}"#,
      #"{"serve": null}"#, #"{"serve": {}}"#,
      #"{"serve": {"listen": [{"at": "8080"}], "to": "http://127.0.0.1:9000/a"}}"#,
      #"{"serve": {"listen": [{"at": "[::]:80", "clients": "open"}, {"at": "0.0.0.0:1", "clients": ["10.0.0.0/8"]}]}}"#,
      #"{"serve": {"to": "unix:a.sock", "forwarded": "append", "trace": "ignore", "host": "upstream", "drain": "0s"}}"#,
      #"{"serve": {"listen": [{"at": "80", "clients": "certificate", "tls": {"cert": "a", "key": "b", "clientCa": "c"}}]}}"#,
      #"{"serve": {"listen": [{"at": "80", "tls": {"cert": "a", "certificates": [{"cert": "b"}, {"cert": "c", "key": "d"}]}}]}}"#,
      #"{"serve": {"limits": {"connections": 5, "streams": 7, "requestsPerConnection": 1, "headTimeout": "1s", "idle": "2s", "bodyIdle": "3s", "bufferBytes": 65536}}}"#,
      #"{"serve": {"listen": null, "to": null, "forwarded": null, "trace": null, "host": null, "limits": null, "drain": null}}"#,
      plugin(#""library": "a.so", "build": null"#), plugin(#""builtin": "metrics", "build": null"#),
      plugin(#""library": "a.so", "build": {"folder": "plugins/a"}"#),
      plugin(#""library": "a.so", "build": {"folder": {"env": "PATH"}, "command": null, "sources": null}"#),
      plugin(#""library": "a.so", "build": {"command": ["make", "a.so"], "sources": ["a.c", {"env": "PATH"}]}"#),
      stage("\"a\""), stage(#"{"plugin": "a"}"#),
      stage(#"{"plugin": "a", "match": null, "config": null}"#),
      stage(#"{"plugin": "a", "config": {"x": [1, {"env": "PATH"}]}}"#), stage(#"{"plugin": "a", "config": 5}"#),
      stage(#"{"plugin": "a", "match": {"hosts": null, "methods": null, "paths": null}}"#),
      stage(
        #"{"plugin": "a", "match": {"hosts": ["a", "*", "*.b.c", "*:8080", "https://*:1", "https://d:8443", "[::1]:80"]}}"#
      ),
      stage(#"{"plugin": "a", "match": {"hosts": ["bücher.example", "*.пример.рф:81", "https://日本語.example"]}}"#),
      stage(#"{"plugin": "a", "match": {"methods": ["GET"], "paths": ["/v1/*", {"env": "PATH"}]}}"#),
      #"{"transport": {}}"#,
      #"{"transport": {"baseURL": "HTTPS://[::1]:1/a?b"}}"#,
      #"{"transport": {"baseURL": "https://bücher.example/ä"}}"#,
      #"{"transport": {"timeout": "1s", "connectTimeout": "1ms", "loops": 128, "maxConnectionsPerHost": 65535}}"#,
      #"{"transport": {"httpVersion": "1.0", "maxRequestBytes": 0, "maxResponseBytes": 1099511627776}}"#,
      #"{"transport": {"spillBytes": 1, "proxy": "", "tls": {"ca": "a", "cert": "b", "key": "c", "verify": false}}}"#,
      #"{"transport": {"proxy": "socks5h://a:b@[::1]:1", "userAgent": {"env": "PATH"}, "tls": {"ca": null, "verify": null}}}"#,
      #"{"transport": {"userAgent": "a/1"}}"#, #"{"transport": {"userAgent": ""}}"#,
      #"{"transport": {"userAgent": "a/1 (b; c) d/2"}}"#,
      #"{"transport": {"userAgent": {"env": "PATH"}}}"#, #"{"transport": {"userAgent": null}}"#,
      #"{"retry": {"maxAttempts": 1}}"#,
      #"{"retry": {"maxAttempts": 100, "backoff": null}}"#,
      #"{"retry": {"statuses": [429, "503", "5xx", "502-504"], "methods": ["GET", "x-query"], "connectionErrors": true}}"#,
      #"{"retry": {"statuses": [], "methods": [], "connectionErrors": false, "budget": 0}}"#,
      #"{"retry": {"backoff": {"base": "0s", "max": "1h"}, "budget": 100}}"#,
      #"{"retry": {"backoff": {}, "budget": 0.2}}"#,
      #"{"validate": {"statuses": [200, "204", "3xx", "400-404"], "extract": null}}"#,
      #"{"validate": {"statuses": []}}"#,
      #"{"validate": {"extract": "json"}}"#, #"{"validate": {"extract": "text"}}"#,
      #"{"validate": {"extract": "raw"}}"#,
      #"{"validate": {"payloadSchema": "docs/schema/configuration.schema.json"}}"#,
      #"{"validate": {"payloadSchema": "docs/schema/configuration.schema.json", "extract": "json"}}"#,
      #"{"validate": {"payloadSchema": null, "extract": "text"}}"#,
      #"{"requestId": {"header": "X-Call"}}"#, #"{"serviceName": "shop"}"#, #"{"serviceName": {"env": "PATH"}}"#,
      #"{"requestId": {}}"#,
      #"{"redact": {"headers": ["X-A"], "query": ["b", {"env": "PATH"}]}}"#,
      #"{"store": "/tmp/a"}"#,
      #"{"control": true}"#, #"{"control": false}"#, #"{"control": "run/a.sock"}"#, #"{"control": {"env": "PATH"}}"#,
      #"{"swap": {}}"#,
      #"{"swap": {"generations": 1, "drain": "0s", "probation": {"duration": "0s", "transactions": 1000000}}}"#,
      #"{"swap": {"generations": null, "drain": null, "probation": null, "canary": null}}"#,
      #"{"swap": {"canary": {}}}"#,
      #"{"swap": {"canary": {"steps": [0.5, 50, 99.9], "hold": "0s", "by": "transaction"}}}"#,
      #"{"swap": {"canary": {"by": {"header": "X-User"}, "transactions": 100, "latency": false, "onSilence": "promote"}}}"#,
      #"{"swap": {"canary": {"steps": null, "hold": null, "by": null, "latency": null, "onSilence": "hold"}}}"#,
      #"{"swap": {"shadow": {}}}"#, #"{"swap": {"canary": null, "shadow": null}}"#,
      #"{"swap": {"shadow": {"share": 100, "duration": "0s", "differences": 0, "ignore": []}}}"#,
      #"{"swap": {"shadow": {"share": 0.001, "ignore": ["header X-Time", "trailer a", "body", "URL"]}, "canary": {}}}"#,
      #"{"swap": {"shadow": {"share": null, "duration": null, "differences": null, "ignore": null}}}"#,
      #"{"update": null}"#, update(#""url": "http://a/b/", "root": "root.json""#),
      update(#""url": "HTTPS://[::1]:1", "root": {"env": "PATH"}, "channel": "beta-1.2_x", "every": "0s""#),
      update(#""url": "http://a", "root": "r", "every": "1s", "immediate": false, "folder": "releases""#),
      update(#""url": "http://a", "root": "r", "channel": null, "every": null, "immediate": null, "folder": null"#),
      release(#""release": "a""#), release(#""release": "Bearer-auth_1.2", "library": null, "build": null"#),
      release(#""release": "a", "onFault": "skip", "delivery": "queued", "allow": ["writableCode"], "config": 1"#),
    ]

  private static let refused =
    [
      "[]", "null", "5", #"{"plugin": {}}"#,
      #"{"$schema": "x"}"#,
      #"{"plugins": []}"#,
      #"{"plugins": {"": {"library": "a.so"}}}"#,
      #"{"plugins": {"a b": {"library": "a.so"}}}"#,
      #"{"plugins": {"a": null}}"#,
      #"{"plugins": {"é": {"library": "a.so"}}}"#,
      plugin(#""builtin": "header""#), plugin(#""builtin": 5"#),
      plugin(""), plugin(#""library": null"#),
      plugin(#""library": "a.so", "builtin": "b""#),
      plugin(#""library": 5"#), plugin(#""library": """#), plugin(#""library": "..""#),
      plugin(#""library": "Bearer-Auth""#), plugin(#""library": "bearer auth""#), plugin(#""library": "bearer--auth""#),
      plugin(#""library": "bearer-auth.so.1""#), plugin(#""library": "-a""#), plugin(#""library": "bearer_auth""#),
      plugin("\"library\": \"\(String(repeating: "a", count: 65))\""),
      plugin(#""library": {"env": "PATH", "file": "x"}"#),
      plugin(#""library": {"environment": "PATH"}"#),
      plugin(#""library": "a.so", "configuration": {}"#),
      plugin(#""library": "a.so", "deadline": 5"#),
      plugin(#""library": "a.so", "deadline": {"env": "PATH"}"#),
      plugin(#""library": "a.so", "onFault": "ignore""#),
      plugin(#""library": "a.so", "delivery": "later""#),
      plugin(#""library": "a.so", "allow": ["everything"]"#), plugin(#""library": "a.so", "allow": "writableCode""#),
      plugin(#""builtin": "metrics", "allow": ["writableCode"]"#), #"{"swap": {"trial": 5}}"#,
      plugin(#""builtin": "metrics", "build": {"folder": "."}"#),
      plugin(#""library": "a.so", "build": {}"#), plugin(#""library": "a.so", "build": "make""#),
      plugin(#""library": "a.so", "build": {"folder": ""}"#), plugin(#""library": "a.so", "build": {"folder": 1}"#),
      plugin(#""library": "a.so", "build": {"folder": ".", "source": []}"#),
      plugin(#""library": "a.so", "build": {"folder": ".", "sources": ["."]}"#),
      plugin(#""library": "a.so", "build": {"folder": ".", "command": ["make"], "sources": ["."]}"#),
      plugin(#""library": "a.so", "build": {"command": ["make"]}"#),
      plugin(#""library": "a.so", "build": {"command": ["make"], "sources": []}"#),
      plugin(#""library": "a.so", "build": {"command": [], "sources": ["."]}"#),
      plugin(#""library": "a.so", "build": {"command": [""], "sources": ["."]}"#),
      plugin(#""library": "a.so", "build": {"command": "make", "sources": ["."]}"#),
      plugin(#""builtin": "metrics", "delivery": "queued""#),
      #"{"update": true}"#, update(""), update(#""url": "http://a""#), update(#""root": "root.json""#),
      update(#""url": "a", "root": "r""#), update(#""url": "ftp://a", "root": "r""#),
      update(#""url": "http://a/?b", "root": "r""#), update(#""url": "http://a", "root": 5"#),
      update(#""url": "http://a", "root": "r", "channel": """#),
      update(#""url": "http://a", "root": "r", "channel": ".a""#),
      update(#""url": "http://a", "root": "r", "channel": "a/b""#),
      update(#""url": "http://a", "root": "r", "every": 5"#),
      update(#""url": "http://a", "root": "r", "immediate": "yes""#),
      update(#""url": "http://a", "root": "r", "interval": "1h""#),
      release(#""release": """#), release(#""release": "../a""#), release(#""release": 5"#),
      release(#""release": "a", "library": "a.so""#), release(#""release": "a", "builtin": "metrics""#),
      release(#""release": "a", "build": {"folder": "a"}"#),
      stage("1"), stage("null"), stage("{}"), stage(#"{"plugin": "a", "when": {}}"#),
      stage(#"{"plugin": 1}"#),
      stage(#"{"plugin": "a", "conf": {}}"#),
      stage(#"{"plugin": "a", "match": []}"#),
      stage(#"{"plugin": "a", "match": {"host": []}}"#),
      stage(#"{"plugin": "a", "match": {"hosts": "b"}}"#),
      stage(#"{"plugin": "a", "match": {"hosts": ["b/c"]}}"#),
      stage(#"{"plugin": "a", "match": {"hosts": ["ftp://b"]}}"#),
      stage(#"{"plugin": "a", "match": {"hosts": ["*b"]}}"#),
      stage(#"{"plugin": "a", "match": {"paths": [1]}}"#), #"{"request": "a"}"#,
      #"{"request": {}}"#,
      #"{"deadline": 5}"#,
      #"{"deadline": "5"}"#,
      #"{"deadline": "-5s"}"#,
      #"{"deadline": "5 s"}"#,
      #"{"deadline": ".5s"}"#,
      #"{"transport": []}"#,
      #"{"transport": {"url": "http://a"}}"#,
      #"{"transport": {"baseURL": "/a"}}"#,
      #"{"transport": {"baseURL": "http://a b"}}"#,
      #"{"transport": {"baseURL": "http://a\\b"}}"#,
      #"{"deadline": "0s"}"#, #"{"transport": {"timeout": "00.00ms"}}"#, #"{"transport": {"connectTimeout": "0m"}}"#,
      #"{"watchdog": {"abandon": "0s"}}"#, plugin(#""library": "a.so", "deadline": "0h""#),
      #"{"transport": {"loops": 0}}"#,
      #"{"transport": {"loops": 129}}"#,
      #"{"transport": {"loops": "1"}}"#,
      #"{"transport": {"maxConnectionsPerHost": 0}}"#,
      #"{"transport": {"httpVersion": "3"}}"#,
      #"{"transport": {"httpVersion": 2}}"#,
      #"{"transport": {"maxRequestBytes": -1}}"#,
      #"{"transport": {"maxResponseBytes": 1099511627777}}"#,
      #"{"transport": {"spillBytes": 1.5}}"#,
      #"{"transport": {"proxy": 5}}"#, #"{"transport": {"proxy": "http://a/b"}}"#,
      #"{"transport": {"proxy": "a@b@c"}}"#,
      #"{"transport": {"userAgent": 5}}"#, #"{"transport": {"userAgent": "a\nb: c"}}"#,
      #"{"transport": {"userAgent": " a"}}"#, #"{"transport": {"userAgent": "é"}}"#,
      #"{"transport": {"tls": {"verify": "no"}}}"#,
      #"{"transport": {"tls": {"cafile": "a"}}}"#,
      #"{"retry": {"maxAttempts": 0}}"#,
      #"{"retry": {"maxAttempts": 101}}"#,
      #"{"retry": {"attempts": 2}}"#,
      #"{"retry": {"statuses": 429}}"#,
      #"{"retry": {"statuses": [42]}}"#,
      #"{"retry": {"methods": "GET"}}"#,
      #"{"retry": {"methods": ["G ET"]}}"#,
      #"{"retry": {"methods": [""]}}"#,
      #"{"retry": {"connectionErrors": "yes"}}"#,
      #"{"retry": {"backoff": "1s"}}"#,
      #"{"retry": {"backoff": {"base": 100}}}"#,
      #"{"retry": {"backoff": {"factor": 2}}}"#,
      #"{"retry": {"budget": -0.1}}"#,
      #"{"retry": {"budget": 100.5}}"#,
      #"{"retry": {"budget": "20%"}}"#,
      #"{"redirects": []}"#,
      #"{"redirects": {"max": -1}}"#,
      #"{"redirects": {"max": 1001}}"#,
      #"{"redirects": {"max": "20"}}"#,
      #"{"redirects": {"keep": "authorization"}}"#,
      #"{"redirects": {"keep": ["a b"]}}"#,
      #"{"redirects": {"maximum": 5}}"#,
      #"{"swap": "30s"}"#, #"{"swap": {"budget": 5}}"#, #"{"swap": {"generations": 0}}"#,
      #"{"swap": {"generations": 1000001}}"#, #"{"swap": {"drain": 30}}"#, #"{"swap": {"probation": "30s"}}"#,
      #"{"swap": {"canary": true}}"#, #"{"swap": {"canary": {"steps": []}}}"#, #"{"swap": {"canary": {"steps": [0]}}}"#,
      #"{"swap": {"canary": {"steps": [100]}}}"#, #"{"swap": {"canary": {"steps": ["1"]}}}"#,
      #"{"swap": {"canary": {"hold": 5}}}"#, #"{"swap": {"canary": {"by": "user"}}}"#,
      #"{"swap": {"canary": {"by": {}}}}"#, #"{"swap": {"canary": {"by": {"header": "a b"}}}}"#,
      #"{"swap": {"canary": {"transactions": 99}}}"#, #"{"swap": {"canary": {"onSilence": "end"}}}"#,
      #"{"swap": {"canary": {"step": 1}}}"#,
      #"{"swap": {"shadow": "10m"}}"#, #"{"swap": {"shadow": {"share": 0}}}"#, #"{"swap": {"shadow": {"share": 101}}}"#,
      #"{"swap": {"shadow": {"duration": 5}}}"#, #"{"swap": {"shadow": {"differences": -1}}}"#,
      #"{"swap": {"shadow": {"ignore": "body"}}}"#, #"{"swap": {"shadow": {"ignore": ["x-time"]}}}"#,
      #"{"swap": {"shadow": {"ignore": ["header"]}}}"#, #"{"swap": {"shadow": {"ignore": ["header a b"]}}}"#,
      #"{"swap": {"shadow": {"ignore": [5]}}}"#, #"{"swap": {"shadow": {"steps": 5}}}"#,
      #"{"swap": {"probation": {"transactions": 0}}}"#, #"{"swap": {"probation": {"duration": 5}}}"#,
      #"{"control": 5}"#, #"{"control": {}}"#, #"{"control": []}"#, #"{"control": ""}"#,
      #"{"validate": {"statuses": [99]}}"#,
      #"{"validate": {"statuses": ["2x"]}}"#,
      #"{"validate": {"statuses": ["0xx"]}}"#,
      #"{"validate": {"statuses": ["+200"]}}"#,
      #"{"validate": {"statuses": ["٢xx"]}}"#,
      #"{"validate": {"statuses": ["٢٠٠"]}}"#,
      #"{"validate": {"statuses": ["0200-0299"]}}"#,
      #"{"validate": {"statuses": ["200-"]}}"#,
      #"{"validate": {"statuses": "2xx"}}"#,
      #"{"validate": {"extract": "xml"}}"#,
      #"{"validate": {"extract": ["json"]}}"#,
      #"{"validate": {"payloadSchema": {"type": "object"}}}"#,
      #"{"validate": {"payloadSchema": "docs/schema/configuration.schema.json", "extract": "text"}}"#,
      #"{"requestId": {"header": "a b"}}"#,
      #"{"requestId": "X-Call"}"#, #"{"serviceName": ""}"#, #"{"serviceName": 5}"#,
      #"{"redact": {"headers": ["a:"]}}"#,
      #"{"redact": {"cookies": []}}"#,
      #"{"store": 5}"#,
      #"{"serve": {"port": 80}}"#, #"{"serve": {"listen": "8080"}}"#, #"{"serve": {"listen": [{}]}}"#,
      #"{"serve": {"listen": [{"at": "80", "tls": {}}]}}"#,
      #"{"serve": {"listen": [{"at": "80", "tls": {"key": "a"}}]}}"#,
      #"{"serve": {"listen": [{"at": "80", "tls": {"cert": "a", "certificates": [{}]}}]}}"#,
      #"{"serve": {"listen": [{"at": "80", "tls": {"cert": "a", "ca": "b"}}]}}"#,
      #"{"serve": {"limits": {"streams": 0}}}"#,
      #"{"serve": {"listen": [{"at": 8080}]}}"#, #"{"serve": {"listen": [{"at": "80", "clients": []}]}}"#,
      #"{"serve": {"listen": [{"at": "80", "clients": "all"}]}}"#, #"{"serve": {"forwarded": "keep"}}"#,
      #"{"serve": {"limits": {"bufferBytes": 1}}}"#, #"{"serve": {"limits": {"headTimeout": "0s"}}}"#,
      #"{"serve": {"limits": {"stream": 5}}}"#, #"{"serve": {"drain": 5}}"#,
    ]

  @Test(arguments: accepted)
  func `the schema allows what the reader accepts`(text: String) throws {
    #expect(Self.reading(text) == nil)
    let violations = try Self.schema.get().violations(in: JSONValue(parsing: text))
    #expect(violations.isEmpty, "\(violations)")
  }

  @Test(arguments: refused)
  func `the schema refuses what the reader refuses`(text: String) throws {
    #expect(Self.reading(text) != nil)
    #expect(try !Self.schema.get().allows(JSONValue(parsing: text)))
  }

  private static func headers(_ config: String) -> String {
    "{\"plugins\": {\"a\": {\"builtin\": \"headers\", \"config\": \(config)}}, \"issue\": [\"a\"]}"
  }

  /// Creates an engine with a stage that reads its own settings. Returns the error, or nil if there is none.
  private static func making(_ text: String) async -> String? {
    do {
      let engine = try Engine(Configuration(text: Array(text.utf8)))
      await engine.shutdown()
      return nil
    } catch { return "\(error)" }
  }

  @Test(arguments: [
    "{}", "null", #"{"hosts": null, "exclude": null, "signed": null, "propagators": null, "sampler": null}"#,
    #"{"hosts": ["a", "*.b.c", "https://d:8443", {"host": "*"}, {"host": "e", "send": null}]}"#,
    #"{"hosts": [{"host": "a", "send": ["trace", "baggage", "requestId", "sessionId", "static"]}, {"host": "b", "send": []}]}"#,
    #"{"exclude": ["a", "*"], "signed": "inject", "existing": "refuse", "sampledOnly": true, "disabled": false}"#,
    #"{"propagators": ["xray", "datadog", "b3multi", "b3", "baggage", "tracecontext"]}"#, #"{"propagators": []}"#,
    #"{"sampler": {"type": "always_on"}}"#, #"{"sampler": {"type": "always_off", "ratio": null}}"#,
    #"{"sampler": {"type": "traceidratio", "ratio": 0.5}}"#,
    #"{"sampler": {"type": "parentbased_traceidratio", "ratio": 1}}"#,
    #"{"requestId": null}"#, #"{"requestId": {}}"#, #"{"requestId": {"header": null}}"#,
    #"{"requestId": {"header": "X-A"}}"#, #"{"sessionId": {}}"#, #"{"sessionId": {"header": "X-S", "value": "a"}}"#,
    #"{"sessionId": {"rotateAfterIdle": "30m", "value": null}}"#,
    #"{"static": {"X-App": "shop", "X-Path": {"env": "PATH"}}}"#,
  ])
  func `the schema allows the settings that headers accepts`(config: String) async throws {
    let text = Self.headers(config)
    #expect(await Self.making(text) == nil)
    let violations = try Self.schema.get().violations(in: JSONValue(parsing: text))
    #expect(violations.isEmpty, "\(violations)")
  }

  @Test(arguments: [
    "[]", #"{"host": []}"#, #"{"hosts": "a"}"#, #"{"hosts": ["a/b"]}"#, #"{"hosts": [{"send": []}]}"#,
    #"{"hosts": [{"host": "a", "kinds": []}]}"#, #"{"hosts": [{"host": "a", "send": ["traces"]}]}"#,
    #"{"hosts": [{"host": "a", "send": "trace"}]}"#, #"{"exclude": ["a/b"]}"#, #"{"signed": true}"#,
    #"{"signed": "no"}"#, #"{"propagators": ["b4"]}"#, #"{"propagators": ["b3", "b3"]}"#, #"{"propagators": "b3"}"#,
    #"{"propagator": ["b3"]}"#, #"{"sampler": "always_on"}"#, #"{"sampler": {}}"#, #"{"sampler": {"type": "on"}}"#,
    #"{"sampler": {"type": "always_on", "kind": 1}}"#, #"{"sampler": {"type": "traceidratio"}}"#,
    #"{"sampler": {"type": "traceidratio", "ratio": 2}}"#, #"{"sampler": {"type": "always_on", "ratio": 1}}"#,
    #"{"sampledOnly": 1}"#, #"{"disabled": "yes"}"#, #"{"requestID": {}}"#, #"{"requestId": {"name": "a"}}"#,
    #"{"requestId": {"header": "a b"}}"#, #"{"sessionId": {"id": "a"}}"#, #"{"sessionId": {"rotateAfterIdle": 30}}"#,
    #"{"sessionId": {"rotateAfterIdle": "1m", "value": "a"}}"#, #"{"static": {"a b": "1"}}"#, #"{"static": {"a": 1}}"#,
    #"{"static": []}"#, #"{"existing": "merge"}"#,
  ])
  func `the schema refuses the settings that headers refuses`(config: String) async throws {
    let text = Self.headers(config)
    #expect(await Self.making(text) != nil)
    #expect(try !Self.schema.get().allows(JSONValue(parsing: text)))
  }

  @Test func `the schema does not restrict the settings of a plugin from a library`() throws {
    let text =
      #"{"plugins": {"a": {"library": "a.so", "config": {"host": 1}}, "b": {"builtin": {"env": "B"}, "config": 1}}}"#
    #expect(try Self.schema.get().allows(JSONValue(parsing: text)))
  }
}
