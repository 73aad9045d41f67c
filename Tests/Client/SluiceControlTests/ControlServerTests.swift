import Glibc
import Sluice
import SluiceControl
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The control socket of an engine in this process. The tests send raw bytes to it.
@Suite struct ControlServerTests {
  private let folder: TemporaryDirectory
  private let engine: Engine
  private let control: ControlServer

  init() throws {
    folder = try TemporaryDirectory()
    engine = try Engine(
      Configuration(text: Array(#"{"plugins": {"m": {"builtin": "metrics"}}, "tracers": ["m"]}"#.utf8)))
    control = try ControlServer(engine, at: .path(folder.path("c.sock")))
  }

  private func ask(
    _ method: String, _ target: String, headers: [String] = [], _ body: String = ""
  ) async throws -> (response: RawClient.Response, document: JSONValue) {
    let path = control.path
    let response = try await blocking {
      try RawClient(unixSocket: path).request(method, target, headers: headers, body: body)
    }
    return (response, (try? JSONValue(parsing: response.body)) ?? .null)
  }

  private func end() async {
    await engine.shutdown()
    control.stop()
  }

  @Test func `the status names the serving builds and the client`() async throws {
    let (response, status) = try await ask("GET", "/v1/status")
    #expect(response.status == 200)
    #expect(response.headers.first("Content-Type") == "application/json")
    #expect(status["engine"]?["pid"]?.integer == Int64(getpid()))
    #expect(status["engine"]?["version"]?.string == Engine.version)
    #expect(status["snapshot"]?.integer == 1)
    #expect(status["budget"]?["used"]?.integer == 0)
    #expect(status["generations"]?.count == 0 && status["history"]?.count == 0)
    await end()
  }

  @Test func `metrics are returned as JSON, and as text on request`() async throws {
    let (_, document) = try await ask("GET", "/v1/metrics")
    #expect(document["engine"]?["transactions"]?["begun"]?.integer == 0)
    #expect(document["reports"]?["m"]?["hops"]?.integer == 0)
    #expect(document["plugins"]?["metrics"]?.count == 0)
    for accept in ["text/plain;version=0.0.4;q=0.5, */*;q=0.1", "application/openmetrics-text"] {
      let (response, _) = try await ask("GET", "/v1/metrics", headers: ["Accept: \(accept)"])
      #expect(response.headers.first("Content-Type") == "text/plain; version=0.0.4; charset=utf-8")
      #expect(response.bodyText.contains("\nsluice_engine_attempts_total 0\n"))
      #expect(response.bodyText.contains("\nsluice_hops_total{stage=\"m\"} 0\n"))
    }
    await end()
  }

  @Test func `each metric name has one TYPE line, even with several metrics built-ins`() async throws {
    let engine = try Engine(
      Configuration(
        text: Array(
          #"{"plugins": {"a": {"builtin": "metrics"}, "b": {"builtin": "metrics"}}, "tracers": ["a", "b"]}"#.utf8)))
    let heads = engine.prometheusText().split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
    #expect(Set(heads).count == heads.count && heads.count > 10)
    await engine.shutdown()
    await end()
  }

  @Test(
    arguments: [
      ("GET", "/", "", 404, "not_found"), ("GET", "/v1/statuses", "", 404, "not_found"),
      ("GET", "/v1/../v1/status", "", 404, "not_found"),
      ("POST", "/v1/status", "", 405, "method_not_allowed"), ("GET", "/v1/swap", "", 405, "method_not_allowed"),
      ("DELETE", "/v1/rollback", "", 405, "method_not_allowed"),
      ("POST", "/v1/swap", "{", 400, "malformed"), ("POST", "/v1/swap", "{\"plugins\": [\"\u{0}\"]}", 400, "malformed"),
      ("POST", "/v1/swap", #"{"plugins": ["a"], "plugins": ["b"]}"#, 400, "malformed"),
      ("POST", "/v1/swap", "[]", 400, "invalid_request"), ("POST", "/v1/swap", "null", 400, "invalid_request"),
      ("POST", "/v1/swap", #"{"plugin": "a"}"#, 400, "invalid_request"),
      ("POST", "/v1/swap", #"{"plugins": "a"}"#, 400, "invalid_request"),
      ("POST", "/v1/swap", #"{"plugins": []}"#, 400, "invalid_request"),
      ("POST", "/v1/swap", #"{"plugins": ["a", 1]}"#, 400, "invalid_request"),
      ("POST", "/v1/swap", #"{"plugins": ["a"], "configuration": {}}"#, 400, "invalid_request"),
      ("POST", "/v1/swap", #"{"configuration": "c.json"}"#, 400, "invalid_request"),
      ("POST", "/v1/swap", #"{"configuration": 5}"#, 400, "invalid_request"),
      ("POST", "/v1/swap", #"{"configuration": "/nowhere/c.json"}"#, 422, "configuration"),
      ("POST", "/v1/swap", #"{"configuration": {"plugin": {}}}"#, 422, "configuration"),
      ("POST", "/v1/swap", #"{"plugins": ["nobody"]}"#, 422, "refused"),
      ("POST", "/v1/swap", #"{"configuration": {"transport": {"loops": 2}}}"#, 422, "refused"),
      ("POST", "/v1/rollback", #"{"to": 1}"#, 400, "invalid_request"),
      ("POST", "/v1/rollback", "", 422, "refused"),
      ("POST", "/v1/notify", "", 400, "invalid_request"),
      ("POST", "/v1/notify", #"{"topic": ""}"#, 400, "invalid_request"),
      ("POST", "/v1/notify", #"{"topic": "a", "deadline": 5}"#, 400, "invalid_request"),
      ("POST", "/v1/notify", #"{"topic": "a", "load": {}}"#, 400, "invalid_request"),
    ] as [(String, String, String, Int, String)])
  func `invalid requests get a document with the reason`(
    _ method: String, _ target: String, _ body: String, _ status: Int, _ code: String
  ) async throws {
    let (response, document) = try await ask(method, target, body)
    #expect(response.status == status, "\(response.bodyText)")
    #expect(document["error"]?["code"]?.string == code, "\(response.bodyText)")
    #expect(document["error"]?["message"]?.string?.isEmpty == false)
    if status == 405 { #expect(response.headers.first("Allow") != nil) }
    await end()
  }

  @Test func `a configuration that is sent over the socket can name plugins that are installed for the engine`()
    async throws
  {
    let plugins = InstalledPlugins(in: BuiltProducts.directory)
    let store = #""store": "\#(folder.path("store"))""#
    let engine = try Engine(Configuration(text: Array("{\(store)}".utf8), installedPlugins: plugins))
    let control = try ControlServer(engine, at: .path(folder.path("d.sock")))
    let response = try await blocking { [path = control.path] in
      try RawClient(unixSocket: path).request(
        "POST", "/v1/swap",
        body: #"{"configuration": {"plugins": {"a": {"library": "traffic-metrics"}}, "tracers": ["a"], \#(store)}}"#)
    }
    #expect(response.status == 200, "\(response.bodyText)")
    let serving = await engine.status.generations.map(\.library)
    #expect(serving == [BuiltProducts.library("traffic-metrics")])
    await engine.shutdown()
    control.stop()
    let (refused, _) = try await ask(
      "POST", "/v1/swap", #"{"configuration": {"plugins": {"a": {"library": "traffic-metrics"}}}}"#)
    #expect(refused.status == 422 && refused.bodyText.contains("no installed plugin"), "\(refused.bodyText)")
    await end()
  }

  @Test(arguments: [true, false]) func `a huge body is refused`(_ isChunked: Bool) async throws {
    let client = try RawClient(unixSocket: control.path)
    let start = "POST /v1/swap HTTP/1.1\r\nHost: a\r\n"
    if isChunked {
      try client.send(start + "Transfer-Encoding: chunked\r\n\r\n")
      let chunk = "10000\r\n" + String(repeating: " ", count: 0x10000) + "\r\n"
      for _ in 0..<17 { try client.send(chunk) }
      try client.send("0\r\n\r\n")
    } else {
      try client.send(start + "Content-Length: 99999999999\r\n\r\n")
    }
    let response = try client.readResponse()
    #expect(response.status == 413)
    #expect(try JSONValue(parsing: response.body)["error"]?["code"]?.string == "too_large")
    #expect(try await ask("GET", "/v1/status").response.status == 200)
    await end()
  }

  @Test(arguments: [
    ("Content-Length: 0\r\nContent-Length: 99", "", 400),
    ("Content-Length: 9\r\nTransfer-Encoding: chunked", "0\r\n\r\n", 400),
    ("Transfer-Encoding: identity", "", 400), ("Transfer-Encoding: gzip, chunked", "0\r\n\r\n", 501),
    ("Content-Length : 99", "", 400),
  ])
  func `a request whose end is ambiguous is refused, and no command after it is run`(
    _ fields: String, _ body: String, _ status: Int
  ) async throws {
    let client = try RawClient(unixSocket: control.path)
    let command = #"{"configuration": {}}"#
    let second = "POST /v1/swap HTTP/1.1\r\nHost: a\r\nContent-Length: \(command.utf8.count)\r\n\r\n\(command)"
    try client.send("POST /v1/swap HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n\(body)\(second)")
    let response = try client.readResponse()
    #expect(response.status == status)
    #expect(try JSONValue(parsing: response.body)["error"]?["code"]?.string == "malformed", "\(response.bodyText)")
    #expect(response.headers.first("Connection") == "close")
    #expect(try client.readToEnd().isEmpty)
    #expect(try await ask("GET", "/v1/status").document["snapshot"]?.integer == 1)
    await end()
  }

  @Test func `a request of HTTP 1_1 without Host is refused`() async throws {
    let client = try RawClient(unixSocket: control.path)
    try client.send("GET /v1/status HTTP/1.1\r\n\r\n")
    let response = try client.readResponse()
    #expect(response.status == 400)
    #expect(try JSONValue(parsing: response.body)["error"]?["code"]?.string == "malformed", "\(response.bodyText)")
    let old = try RawClient(unixSocket: control.path)
    try old.send("GET /v1/status HTTP/1.0\r\n\r\n")
    #expect(try old.readResponse().status == 200)
    await end()
  }

  @Test func `clients that are silent, slow or gone do not block other clients`() async throws {
    let silent = try (0..<20).map { _ in try StreamSocket.connect(unixSocket: control.path) }
    let slow = try StreamSocket.connect(unixSocket: control.path)
    try slow.write(Array("GET /v1/stat".utf8))
    for _ in 0..<20 {
      let gone = try RawClient(unixSocket: control.path)
      try gone.send("POST /v1/notify HTTP/1.1\r\nHost: a\r\nContent-Length: 14\r\n\r\n{\"topic\": \"a\"}")
      gone.socket.close()
    }
    #expect(try await ask("GET", "/v1/status").response.status == 200)
    try slow.write(Array("us HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
    let answer = try await blocking { try slow.read() }
    #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 200 "))
    // The stop of the server does not wait for the silent clients.
    await end()
    for client in silent { #expect(try client.read().isEmpty) }
  }

  @Test func `the number of idle clients is limited, and they do not block other clients`() async throws {
    let crowd = try (0..<300).map { _ in try StreamSocket.connect(unixSocket: control.path) }
    #expect(try await ask("GET", "/v1/status").response.status == 200)
    // The server has closed all connections except the allowed number.
    for client in crowd.dropLast(64) { #expect(try client.read().isEmpty) }
    for client in crowd { client.close() }
    for _ in 0..<100 { #expect(try await ask("GET", "/v1/status").response.status == 200) }
    await end()
  }

  @Test func `if the maximum number of commands runs, a further command is refused with a document`() async throws {
    let (started, isOpen) = (Watched(0), Watched(false))
    engine.setNotificationHandler { _, _ in
      started.update { $0 += 1 }
      _ = try? await isOpen.wait { $0 }
      return .newData
    }
    let body = #"{"topic": "a", "deadline": "1h"}"#
    let busy = try (0..<64).map { _ in
      let client = try RawClient(unixSocket: control.path)
      try client.send("POST /v1/notify HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
      return client
    }
    try await started.wait(for: "64 commands") { $0 == 64 }
    for _ in 0..<3 {
      let (response, document) = try await ask("GET", "/v1/status")
      #expect(response.status == 503 && document["error"]?["code"]?.string == "crowded", "\(response.bodyText)")
    }
    isOpen.update { $0 = true }
    for client in busy {
      #expect(try JSONValue(parsing: client.readResponse().body)["outcome"]?.string == "new-data")
    }
    #expect(try await ask("GET", "/v1/status").response.status == 200)
    await end()
  }

  @Test(arguments: [8 << 10, 100 << 10]) func `a head that is too long gets a document that says so`(_ count: Int)
    async throws
  {
    let long = String(repeating: "a", count: count)
    let (target, refusedTarget) = try await ask("GET", "/\(long)")
    #expect(target.status == 414 && refusedTarget["error"]?["code"]?.string == "too_large", "\(target.bodyText)")
    let (field, refusedField) = try await ask(
      "GET", "/v1/status", headers: (0..<4).map { "X-\($0): \(long.prefix(count / 4))" })
    #expect(field.status == (count > 32 << 10 ? 431 : 200), "\(field.bodyText)")
    #expect(refusedField["error"]?["code"]?.string == (count > 32 << 10 ? "too_large" : nil))
    await end()
  }

  /// libmicrohttpd answers these requests itself, before our code sees them.
  @Test(arguments: [
    (["GET /v1/status"], 400), (["GET /v1/status HTTP/1.1", "no colon"], 400), (["GET /v1/status HTTP/9.9"], 505),
    (["POST /v1/swap HTTP/1.1", "Content-Length: -1"], 400),
  ])
  func `a request that is not HTTP is refused, and only its own connection is closed`(_ lines: [String], _ status: Int)
    async throws
  {
    let client = try RawClient(unixSocket: control.path)
    try client.send((lines + ["", ""]).joined(separator: "\r\n"))
    #expect(try client.readHead().status == status)
    _ = try client.readToEnd()
    #expect(try await ask("GET", "/v1/status").response.status == 200)
    await end()
  }

  @Test func `a notification that no plugin takes is offered to the program, which can take it or pass it on`()
    async throws
  {
    let passed = try await ask("POST", "/v1/notify", #"{"topic": "news"}"#).document
    #expect(passed["outcome"]?.string == "not-taken" && passed["taker"] == nil)
    engine.setNotificationHandler { topic, payload in topic == "news" && payload["n"] == 7 ? .newData : nil }
    let taken = try await ask("POST", "/v1/notify", #"{"topic": "news", "payload": {"n": 7}, "deadline": "5s"}"#)
      .document
    #expect(taken["outcome"]?.string == "new-data" && taken["taker"]?["program"]?.bool == true)
    await end()
  }

  @Test func `a notification ends as replaced if its instance is replaced while the engine continues`()
    async throws
  {
    let product = try await PluginCompiler.compile("handles-work")
    let library = try withExtendedLifetime(product) { try FileTree.read(product.path) }
    try StampedLibrary.install(library, at: folder.path("worker.so"))
    let text = #"""
      {"plugins": {"worker": {"library": "worker.so"}}, "store": "store",
       "swap": {"probation": {"duration": "0s"}, "drain": "50ms"}}
      """#
    let log = Watched<[LogLine]>([])
    let worker = try Engine(Configuration(text: Array(text.utf8), file: folder.path("sluice.json"))) { line in
      log.update { $0.append(line) }
    }
    let socket = try ControlServer(worker, at: .path(folder.path("w.sock")))
    let client = try ControlClient(at: socket.path)
    let asking = Task {
      try await client.send("POST", "/v1/notify", ["topic": "keep", "deadline": "1h"])
    }
    try await log.wait(for: "the call") { lines in lines.contains { $0.message.hasPrefix("notified-keep") } }
    // The additional byte makes another build. The loader ignores data after the sections of a library.
    try StampedLibrary.install(library + [0], at: folder.path("worker.so"))
    #expect(try await worker.swap().outcome == .published)
    let answer = try await asking.value
    #expect(answer["outcome"]?.string == "replaced", "\(answer)")
    #expect(answer["taker"]?["plugin"]?.string == "worker" && answer["taker"]?["generation"]?.integer == 1)
    await client.close()
    await worker.shutdown()
    socket.stop()
    await end()
  }

  @Test func `a swap publishes a whole configuration, given as a document or as a file`() async throws {
    let first = try await ask("POST", "/v1/swap", #"{"configuration": {"deadline": "5s"}}"#).document
    #expect(first["outcome"]?.string == "published" && first["snapshot"]?.integer == 2, "\(first)")
    #expect(try await ask("GET", "/v1/metrics").document["reports"]?.count == 0)
    let file = try folder.write(#"{"plugins": {"n": {"builtin": "metrics"}}, "tracers": ["n"]}"#, to: "c.json")
    let second = try await ask("POST", "/v1/swap", "{\"configuration\": \"\(file)\"}").document
    #expect(second["trigger"]?.string == "reload" && second["snapshot"]?.integer == 3, "\(second)")
    #expect(try await ask("GET", "/v1/metrics").document["reports"]?["n"] != nil)
    await end()
  }

  /// Whether the test can act as another user, which only root can.
  private static let canBeOther: Bool =
    geteuid() == 0
    && (["/usr/bin/curl", "/usr/bin/setpriv"] as [String]).allSatisfy { path in access(path, X_OK) == 0 }

  @Test(.enabled(if: canBeOther))
  func `the engine's user has access, and another user is refused with a document`() async throws {
    chmod(folder.path, 0o711)
    chmod(control.path, 0o666)
    let arguments = ["-s", "-w", " %{http_code}", "--unix-socket", control.path, "http://localhost/v1/status"]
    let other = try await Command.run(
      "setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", "curl"] + arguments)
    #expect(other.outputText.contains(#""code":"forbidden""#) && other.outputText.hasSuffix(" 403"), "\(other)")
    #expect(try await Command.run("curl", arguments).outputText.hasSuffix(" 200"))
    await end()
  }

  @Test func `an ended engine answers until the socket is removed`() async throws {
    await engine.shutdown()
    #expect(try await ask("GET", "/v1/status").response.status == 200)
    let (response, document) = try await ask("POST", "/v1/swap")
    #expect(response.status == 503 && document["error"]?["code"]?.string == "shutdown")
    #expect(try await ask("POST", "/v1/notify", #"{"topic": "a"}"#).response.status == 503)
    control.stop()
    control.stop()
    #expect(UnixSocket.find(at: control.path) == .nothing)
  }

  @Test func `the client explains why it cannot reach an engine`() async throws {
    let client = try ControlClient(at: control.path)
    #expect(try await client.send("GET", "/v1/status")["snapshot"]?.integer == 1)
    let refusal = await #expect(throws: ControlError.self) { try await client.send("POST", "/v1/rollback") }
    #expect(refusal?.code == .refused)
    await end()
    let gone = await #expect(throws: ControlError.self) { try await client.send("GET", "/v1/status") }
    #expect(gone?.code == .noEngine || gone?.code == .noAnswer)
    await client.close()
    let none = #expect(throws: ControlError.self) { try ControlClient(at: control.path) }
    #expect(none?.code == .noEngine)
    let file = try folder.write("a", to: "file")
    #expect(#expect(throws: ControlError.self) { try ControlClient(at: file) }?.code == .socket)
    let long = folder.path(String(repeating: "a", count: 108))
    #expect(#expect(throws: ControlError.self) { try ControlClient(at: long) }?.code == .socket)
  }
}
