import Sluice
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The shipped cache in a real engine against real servers.
@Suite struct CacheTests {
  @Test func `a stage that answers itself skips the wire, and the response stages still run`() async throws {
    let server = try LoopbackServer { _ in .cacheable("first", "max-age=60") }
    defer { server.stop() }
    let text = """
      {"plugins": {
         "cache": {"library": "\(BuiltProducts.library("cache"))"},
         "fixed": {"library": "\(BuiltProducts.library("static-headers"))", "config": {"response": {"x-via": "fixed"}}}},
       "request": ["cache"], "response": ["cache", "fixed"]}
      """
    let engine = try Engine(Configuration(text: Array(text.utf8)))
    let url = try HTTPURL(server.baseURL + "/a")
    let first = try await engine.perform(Request(url: url))
    let second = try await engine.perform(Request(url: url))
    #expect(server.requestCount == 1)
    #expect(first.headers[values: "cache-status"] == ["sluice; fwd=uri-miss; stored"])
    #expect(second.headers["cache-status"]?.hasPrefix("sluice; hit; ttl=") == true)
    #expect(second.headers["age"].flatMap { Int($0) } != nil)
    #expect(second.body.bytes == first.body.bytes)
    #expect(second.headers[values: "x-via"] == ["fixed"])
    await engine.shutdown()
  }

  @Test func `the origin confirms a stale response, and the caller gets the stored one`() async throws {
    let server = try LoopbackServer { request in
      guard request.value(of: "if-none-match") == "\"v1\"" else {
        return .cacheable("whole", "max-age=0", ["ETag: \"v1\""])
      }
      return ServerResponse(status: 304, headers: [HeaderLine("ETag", "\"v1\""), HeaderLine("X-New", "1")])
    }
    defer { server.stop() }
    let engine = try CacheEngine.make()
    let url = try HTTPURL(server.baseURL + "/a")
    _ = try await engine.perform(Request(url: url))
    let second = try await engine.perform(Request(url: url))
    #expect(server.requestCount == 2)
    #expect(second.status == 200)
    #expect(second.body.bytes == Array("whole".utf8))
    #expect(second.headers["x-new"] == "1")
    #expect(second.headers["cache-status"] == "sluice; fwd=stale; fwd-status=304; stored")
    await engine.shutdown()
  }

  @Test func `if the server cannot be reached, on_failure answers with a stale response`() async throws {
    let server = try LoopbackServer { _ in .cacheable("kept", "max-age=0, stale-if-error=3600") }
    let engine = try CacheEngine.make()
    let url = try HTTPURL(server.baseURL + "/a")
    _ = try await engine.perform(Request(url: url))
    server.stop()
    let second = try await engine.perform(Request(url: url))
    #expect(second.body.bytes == Array("kept".utf8))
    #expect(second.headers["cache-status"] == "sluice; fwd=stale; detail=stale-if-error")
    let other = await engine.transaction(Request(url: try HTTPURL("\(url)/never-seen")))
    #expect(other.error?.code == "connect")
    await engine.shutdown()
  }

  @Test(arguments: [500, 502, 503, 504, 501, 404])
  func `for the configured time a stale response replaces a server error`(status: Int) async throws {
    let isFailing = Watched(false)
    let server = try LoopbackServer { _ in
      isFailing.value ? .text("sorry", status: status) : .cacheable("kept", "max-age=0", ["ETag: \"a\""])
    }
    defer { server.stop() }
    let engine = try CacheEngine.make(#"{"staleIfError": "1h"}"#)
    let url = try HTTPURL(server.baseURL + "/a")
    _ = try await engine.perform(Request(url: url))
    isFailing.update { $0 = true }
    let result = await engine.transaction(Request(url: url))
    let standsIn = [500, 502, 503, 504].contains(status)
    #expect(result.response?.status == (standsIn ? 200 : status))
    #expect(result.response?.headers["cache-status"]?.contains("detail=stale-if-error") == standsIn)
    await engine.shutdown()
  }

  @Test func `only-if-cached without a stored response gets a 504, and no request is sent`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let engine = try CacheEngine.make()
    let result = await engine.transaction(
      Request(url: try HTTPURL(server.baseURL), headers: ["cache-control": "only-if-cached"]))
    #expect(result.response?.status == 504)
    #expect(result.response?.headers["cache-status"] == "sluice; detail=only-if-cached")
    #expect(server.requestCount == 0)
    await engine.shutdown()
  }

  @Test func `each variant is stored, and is found by the request headers on which it depends`() async throws {
    let server = try LoopbackServer { request in
      .cacheable(request.value(of: "accept-language") ?? "none", "max-age=60", ["Vary: Accept-Language"])
    }
    defer { server.stop() }
    let engine = try CacheEngine.make()
    let url = try HTTPURL(server.baseURL + "/a")
    for _ in 0..<2 {
      for language in ["de", "en", "fr"] {
        let response = try await engine.perform(Request(url: url, headers: ["Accept-Language": language]))
        #expect(response.body.bytes == Array(language.utf8))
      }
    }
    #expect(server.requestCount == 3)
    await engine.shutdown()
  }

  @Test func `requests that differ in credentials or in a listed header do not share a response`() async throws {
    let server = try LoopbackServer { request in
      .cacheable("\(request.value(of: "authorization") ?? "") \(request.value(of: "cookie") ?? "")", "max-age=60")
    }
    defer { server.stop() }
    let engine = try CacheEngine.make(#"{"partitionBy": ["authorization", "Cookie"]}"#)
    let url = try HTTPURL(server.baseURL + "/a")
    for _ in 0..<2 {
      for (token, cookie) in [("a", "1"), ("a", "2"), ("b", "1")] {
        let response = try await engine.perform(Request(url: url, headers: ["authorization": token, "cookie": cookie]))
        #expect(response.body.bytes == Array("\(token) \(cookie)".utf8))
      }
    }
    #expect(server.requestCount == 3)
    await engine.shutdown()
  }

  @Test func `a response that varies by a header that a later stage sets is not stored`() async throws {
    let server = try LoopbackServer { _ in .cacheable("x", "max-age=60", ["Vary: X-Tenant"]) }
    defer { server.stop() }
    let text = """
      {"plugins": {
         "cache": {"library": "\(BuiltProducts.library("cache"))"},
         "fixed": {"library": "\(BuiltProducts.library("static-headers"))", "config": {"request": {"x-tenant": "a"}}}},
       "request": ["cache", "fixed"], "response": ["cache"]}
      """
    let engine = try Engine(Configuration(text: Array(text.utf8)))
    for _ in 0..<2 { _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/a"))) }
    #expect(server.requestCount == 2)
    await engine.shutdown()
  }

  @Test func `the least recently used response is dropped when memory is full`() async throws {
    let server = try LoopbackServer { _ in .cacheable(String(repeating: "x", count: 10_000), "max-age=60") }
    defer { server.stop() }
    let engine = try CacheEngine.make(#"{"memoryBytes": 35000}"#)
    func get(_ path: String) async throws { _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + path))) }
    for path in ["/1", "/2", "/3", "/1", "/4"] { try await get(path) }
    #expect(server.requests.map(\.target) == ["/1", "/2", "/3", "/4"])
    // /2 was dropped to make room for /4. The others are still stored.
    for path in ["/1", "/3", "/4", "/2"] { try await get(path) }
    #expect(server.requests.map(\.target) == ["/1", "/2", "/3", "/4", "/2"])
    await engine.shutdown()
  }

  @Test func `the cache keeps 128 responses of a URL, and then drops the least recently used one`() async throws {
    let server = try LoopbackServer { request in
      .cacheable(request.value(of: "x-key") ?? "none", "max-age=600", ["Vary: X-Key"])
    }
    defer { server.stop() }
    let engine = try CacheEngine.make()
    let url = try HTTPURL(server.baseURL + "/a")
    func get(_ key: String) async throws {
      let response = try await engine.perform(Request(url: url, headers: ["X-Key": key]))
      #expect(response.body.bytes == Array(key.utf8))
    }
    let keys = (0..<129).map { "\($0)" }
    for key in keys.prefix(128) { try await get(key) }
    for key in ["0", "128"] { try await get(key) }
    #expect(server.requests.compactMap { $0.value(of: "x-key") } == keys)
    // Response 1 was dropped to make room for 128. Responses 0, 2 and 128 are still stored.
    for key in ["0", "2", "128", "1"] { try await get(key) }
    #expect(server.requests.compactMap { $0.value(of: "x-key") } == keys + ["1"])
    await engine.shutdown()
  }

  @Test func `many responses of one URL do not displace the responses of other URLs`() async throws {
    let server = try LoopbackServer(recording: .countOnly) { _ in
      .cacheable(String(repeating: "x", count: 1000), "max-age=600", ["Vary: X-Key"])
    }
    defer { server.stop() }
    // There is room for a few more than 128 responses, but not for all that arrive.
    let engine = try CacheEngine.make(#"{"memoryBytes": 300000}"#)
    func get(_ path: String, _ key: Int) async throws {
      _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + path), headers: ["X-Key": "\(key)"]))
    }
    try await get("/other", 0)
    for key in 0..<400 { try await get("/a", key) }
    try await get("/other", 0)
    #expect(server.requestCount == 401)
    await engine.shutdown()
  }

  @Test
  func `each response is found by the headers that it varies by, and if two responses fit, the later one is used`()
    async throws
  {
    let server = try LoopbackServer { request in
      if let first = request.value(of: "x-first") {
        return .cacheable("first \(first)", "max-age=600", ["Vary: X-First", "Date: @-20"])
      }
      let second = request.value(of: "x-second") ?? "none"
      return .cacheable("second \(second)", "max-age=600", ["Vary: X-Second", "Date: @-10"])
    }
    defer { server.stop() }
    let engine = try CacheEngine.make()
    let url = try HTTPURL(server.baseURL + "/a")
    func get(_ headers: HeaderFields, _ body: String) async throws {
      let response = try await engine.perform(Request(url: url, headers: headers))
      #expect(response.body.bytes == Array(body.utf8))
    }
    for _ in 0..<2 {
      try await get(["x-first": "1"], "first 1")
      try await get(["x-second": "1"], "second 1")
      try await get(["x-second": "2"], "second 2")
    }
    #expect(server.requestCount == 3)
    try await get(["x-first": "1", "x-second": "2"], "second 2")
    #expect(server.requestCount == 3)
    await engine.shutdown()
  }

  @Test(.disabled(if: Sanitizer.isOn, "a sanitizer keeps freed memory, so memory use is not comparable"))
  func `the cache stays within its limit, even with much traffic`() async throws {
    await #expect(processExitsWith: .success) {
      let server = try LoopbackServer(recording: .countOnly) { _ in
        .cacheable(String(repeating: "x", count: 40_000), "max-age=600")
      }
      let engine = try CacheEngine.make(#"{"memoryBytes": 2000000}"#)
      func get(_ paths: Range<Int>) async throws {
        for path in paths { _ = try await engine.perform(Request(url: HTTPURL("\(server.baseURL)/\(path)"))) }
      }
      try await get(0..<200)
      let before = try #require(ProcessFacts().residentBytes)
      try await get(200..<1700)
      // By now the cache has handled 60 MB.
      let after = try #require(ProcessFacts().residentBytes)
      #expect(after - before < 15_000_000)
      await engine.shutdown()
      server.stop()
    }
  }

  @Test func `a body beyond the limit for an entry is passed on and not stored`() async throws {
    let server = try LoopbackServer { request in
      .cacheable(String(repeating: "x", count: request.target == "/fits" ? 1000 : 1001), "max-age=60")
    }
    defer { server.stop() }
    let engine = try CacheEngine.make(#"{"entryBytes": 1000}"#)
    for path in ["/fits", "/fits", "/large", "/large"] {
      let response = try await engine.perform(Request(url: HTTPURL(server.baseURL + path)))
      #expect(response.body.byteCount == (path == "/fits" ? 1000 : 1001))
    }
    #expect(server.requests.map(\.target) == ["/fits", "/large", "/large"])
    await engine.shutdown()
  }

  @Test func `a response that breaks off is not stored`() async throws {
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nCache-Control: max-age=60\r\nContent-Length: 5\r\n\r\n"
    let server = try ScriptedServer([
      [.receiveRequest, .send(head + "who")], [.receiveRequest, .send(head + "whole")],
    ])
    defer { server.stop() }
    let engine = try CacheEngine.make()
    let url = try HTTPURL(server.baseURL + "/a")
    #expect(await engine.transaction(Request(url: url)).error != nil)
    for _ in 0..<2 {
      let response = try await engine.perform(Request(url: url))
      #expect(response.body.bytes == Array("whole".utf8))
    }
    #expect(server.connectionCount == 2)
    await engine.shutdown()
  }

  @Test func `field values that are not UTF-8 are returned with the same bytes`() async throws {
    let head = Array("HTTP/1.1 200 OK\r\nConnection: close\r\nCache-Control: max-age=60\r\nContent-Length: 0\r\n".utf8)
    let server = try ScriptedServer(
      .receiveRequest, .send(head + Array("X-Name: f".utf8) + [0xFC] + Array("r\r\n\r\n".utf8)))
    defer { server.stop() }
    let engine = try CacheEngine.make()
    let url = try HTTPURL(server.baseURL + "/a")
    for _ in 0..<2 {
      let headers = try await engine.perform(Request(url: url)).headers
      let found = headers.indices.filter { headers.name(at: $0) == "X-Name" }
      #expect(found.map { Array(headers.buffer[headers.valueRange(at: $0)]) } == [[0x66, 0xFC, 0x72]])
    }
    #expect(server.connectionCount == 1)
    await engine.shutdown()
  }

  @Test func `an answer is not stored if another request has changed the content of its URL in the meantime`()
    async throws
  {
    let (isSent, isChanged) = (Signal(), Signal())
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nCache-Control: max-age=60\r\nContent-Length: 3\r\n\r\n"
    let server = try ScriptedServer([
      [.receiveRequest, .signal(isSent), .wait(isChanged), .send(head + "old")],
      [.receiveRequest, .send(head + "put")],
      [.receiveRequest, .send(head + "new")],
    ])
    defer { server.stop() }
    let engine = try CacheEngine.make()
    let url = try HTTPURL(server.baseURL + "/a")
    async let slow = engine.perform(Request(url: url))
    try await isSent.wait()
    _ = try await engine.perform(Request(method: "PUT", url: url, body: .text("new")))
    isChanged.set()
    #expect(try await slow.body.bytes == Array("old".utf8))
    #expect(try await engine.perform(Request(url: url)).body.bytes == Array("new".utf8))
    await engine.shutdown()
  }

  @Test func `many requests on several loops share one store and get the right responses`() async throws {
    let server = try LoopbackServer(recording: .countOnly) { request in .cacheable(request.target, "max-age=600") }
    defer { server.stop() }
    // There is room for about half of the entries, so that they are replaced all the time.
    let engine = try CacheEngine.make(#"{"memoryBytes": 20000}"#, loops: 4)
    try await withThrowingTaskGroup(of: Int.self) { group in
      for worker in 0..<16 {
        group.addTask {
          var wrong = 0
          for round in 0..<60 {
            let path = "/\((worker * 7 + round) % 48)"
            let response = try await engine.perform(Request(url: HTTPURL(server.baseURL + path)))
            if response.body.bytes != Array(path.utf8) { wrong += 1 }
          }
          return wrong
        }
      }
      let wrong = try await group.reduce(0, +)
      #expect(wrong == 0)
    }
    #expect(server.requestCount < 16 * 60)
    await engine.shutdown()
  }

  @Test(arguments: [
    (#"{"memoryBytes": -1}"#, "memoryBytes"),
    (#"{"disk": {"bytes": 100000}}"#, "path"),
    (#"{"disk": {"path": "/tmp/x", "bytes": 1}}"#, "bytes"),
    (#"{"staleIfError": "soon"}"#, "staleIfError"),
    (#"{"ttl": 5}"#, "ttl"),
  ])
  func `an invalid configuration is refused, and the error names the key`(config: String, key: String) {
    let error = #expect(throws: (any Error).self) { try CacheEngine.make(config) }
    #expect(error.map { "\($0)" }?.contains(key) == true, "\(error.map { "\($0)" } ?? "")")
  }
}

extension ServerResponse {
  /// A response with status 200 that can be stored. Further headers have the form `Name: value`.
  static func cacheable(_ body: String, _ control: String, _ fields: [String] = []) -> ServerResponse {
    let lines = (["Cache-Control: \(control)"] + fields).map { line in
      let (name, value) = CaseClock().field(line)
      return HeaderLine(name, value)
    }
    return ServerResponse(headers: lines, body: .bytes(Array(body.utf8)))
  }
}
