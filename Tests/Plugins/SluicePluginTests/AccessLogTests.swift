import CSluice
import Glibc
import SluiceJSON
import SluiceTestKit
import Testing

/// The built library of the plugin access-log, used through its C tables.
struct AccessLogTests {
  private let directory: TemporaryDirectory
  private var path: String { "\(directory.path)/access.log" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func instance(_ configuration: JSONValue = [:]) throws -> StubInstance {
    configuration["output"] = JSONValue(path)
    return try StubInstance(try entryPoint(of: "access-log"), configuration)
  }

  private func lines() throws -> [JSONValue] {
    try FileTree.readText(path).split(separator: "\n").map {
      try JSONValue(parsing: String($0))
    }
  }

  @Test func `each ended transaction is logged as one line with its facts`() throws {
    let log = try instance(["requestHeaders": ["Accept"], "responseHeaders": ["content-type"]])
    let exchange = StubExchange()
    exchange.status = 200
    exchange.sides[0].fields = [("accept", "a"), ("Accept", "b")]
    exchange.sides[1].fields = [("Content-Type", "text/\"plain\"")]
    log.record(exchange) { $0.kind = UInt32(SLUICE_EVENT_DID_RECEIVE) }
    log.record(exchange) { event in
      event.status = 200
      event.attempt = 1
      event.duration_ns = 1_930_000
    }
    log.end()
    let line = try #require(try lines().first)
    #expect(try lines().count == 1)
    #expect(line["method"] == "GET")
    #expect(line["url"] == "https://api.example.com/v1/items?x=1")
    #expect(line["status"] == 200)
    #expect(line["outcome"] == "succeeded")
    #expect(line["attempts"] == 2)
    #expect(line["durationMs"]?.number == 1.93)
    #expect(line["requestId"] == "r-1")
    #expect(line["requestHeaders"] == ["accept": "a, b"])
    #expect(line["responseHeaders"] == ["content-type": "text/\"plain\""])
    #expect(line["time"]?.string?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
  }

  @Test func `the line of a failed transaction has its reason, timings and bytes`() throws {
    let log = try instance()
    let exchange = StubExchange()
    log.record(exchange, isQueued: true) { event in
      var timings = sluice_timings()
      timings.size = SLUICE_TIMINGS_SIZE_1
      timings.wait_ns = 2_500_000
      timings.bytes_received = 7
      event.outcome = UInt32(SLUICE_OUTCOME_FAILED)
      event.error_code = exchange.lend("timeout".utf8)
      event.error_message = exchange.lend("no answer\nin time".utf8)
      event.timings = exchange.keep(timings)
    }
    log.end()
    let line = try #require(try lines().first)
    #expect(line["outcome"] == "failed")
    #expect(line["error"] == ["code": "timeout", "message": "no answer\nin time"])
    #expect(line["bytesReceived"] == 7)
    #expect(line["timingsMs"]?["wait"]?.number == 2.5)
    #expect(line["status"] == nil)
  }

  @Test func `no secret reaches the log`() throws {
    let log = try instance([
      "requestHeaders": ["authorization", "x-team-key", "referer"], "responseHeaders": ["set-cookie"],
      "redact": ["headers": ["X-Team-Key"], "query": ["token"]],
    ])
    let exchange = StubExchange()
    exchange.status = 302
    exchange.url = "https://user:hunter2@example.com/a?x=1&Token=hunter2&sig=hunter2&%73ig=hunter2#hunter2"
    exchange.sides[0].fields = [
      ("Authorization", "hunter2"), ("x-team-key", "hunter2"), ("referer", "https://a:hunter2@b/"),
    ]
    exchange.sides[1].fields = [("Set-Cookie", "hunter2")]
    log.record(exchange) { _ in }
    log.end()
    let text = try FileTree.readText(path)
    #expect(!text.contains("hunter2"))
    #expect(text.contains("https://REDACTED:REDACTED@example.com/a?x=1&Token=REDACTED&sig=REDACTED&%73ig=REDACTED\""))
    #expect(text.contains(#""set-cookie":"REDACTED""#))
  }

  @Test func `only its owner can read the file, and a rotated file is opened again`() throws {
    let log = try instance()
    var facts = stat()
    #expect(stat(path, &facts) == 0)
    #expect(facts.st_mode & 0o777 == 0o600)
    #expect(rename(path, path + ".1") == 0)
    log.record(StubExchange()) { _ in }
    log.end()
    #expect(try lines().count == 1)
    #expect(try FileTree.read(path + ".1").isEmpty)
  }

  @Test func `a FIFO without a reader is refused at once and by name, and gets the lines once it has a reader`() throws
  {
    try #require(mkfifo(path, 0o600) == 0)
    let refusal = #expect(throws: StubRefusal.self) { try instance() }
    #expect(refusal?.message.contains("cannot open \(path): no process has opened the pipe for reading") == true)
    let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(reader) }
    let log = try instance()
    log.record(StubExchange()) { _ in }
    log.end()
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(reader, &bytes, bytes.count)
    #expect(count > 0 && bytes[count - 1] == UInt8(ascii: "\n"))
  }

  @Test func `ten thousand transactions are logged, or counted as dropped`() throws {
    let log = try instance(["queueLines": 64])
    let exchange = StubExchange()
    for _ in 0..<10_000 { log.record(exchange) { _ in } }
    log.end()
    let counts = try lines().map { $0["dropped"]?.integer ?? 1 }
    #expect(counts.reduce(0, +) == 10_000)
  }

  @Test func `lines that cannot be written are reported once to the host, and counted in the next written line`()
    async throws
  {
    #expect(symlink("/dev/full", path) == 0)
    let log = try instance()
    for _ in 0..<5 { log.record(StubExchange()) { _ in } }
    try await log.host.log.wait(for: "the failure") { $0.contains { $0.contains("No space left on device") } }
    #expect(unlink(path) == 0)
    log.record(StubExchange()) { _ in }
    log.end()
    let counts = try lines().map { $0["dropped"]?.integer ?? 1 }
    #expect(counts.reduce(0, +) == 6)
    #expect(log.host.log.value.count { $0.contains("cannot write to \(path): No space left on device") } == 1)
    #expect(log.host.log.value.count == 1)
  }

  @Test func `lines that have not been written when the plugin ends are counted in the log of the host`() throws {
    #expect(symlink("/dev/full", path) == 0)
    let log = try instance()
    for _ in 0..<5 { log.record(StubExchange()) { _ in } }
    log.end()
    #expect(log.host.log.value.count == 2)
    #expect(log.host.log.value.last?.contains(" 5 lines are missing: they could not be written") == true)
  }

  @Test func `a line that was cut off is counted as dropped, and the next one begins on a new line`() async throws {
    await #expect(processExitsWith: .success) {
      let test = try AccessLogTests()
      let log = try test.instance()
      var limit = rlimit()
      #expect(getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      let before = limit.rlim_cur
      limit.rlim_cur = 100
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      log.record(StubExchange()) { _ in }
      try await log.host.log.wait(for: "the failure") { $0.contains { $0.contains("File too large") } }
      limit.rlim_cur = before
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      log.record(StubExchange()) { _ in }
      log.end()
      let texts = try FileTree.readText(test.path).split(separator: "\n", omittingEmptySubsequences: false)
      #expect(texts.map { $0.utf8.count }.first == 100)
      let whole = try texts.dropFirst().dropLast().map { try JSONValue(parsing: String($0)) }
      #expect(whole.map { $0["method"]?.string } == ["GET", nil])
      #expect(whole.map { $0["dropped"]?.integer } == [nil, 1])
      #expect(texts.last == "")
    }
  }

  @Test(arguments: [
    (#"{"output": ""}"#, #"config key "output": expected the path"#),
    (#"{"queueLines": 0}"#, #"config key "queueLines": expected a number from 1"#),
    (#"{"outptu": "-"}"#, #"the key "outptu" is unknown"#),
    (#"{"requestHeaders": ["a", 1]}"#, #"config key "requestHeaders[1]": expected a string, found a number"#),
    (#"{"responseHeaders": ["bad name"]}"#, #"config key "responseHeaders": "bad name" is not the name of a header"#),
    (#"{"attributes": ["a.b", "a b"]}"#, #"config key "attributes": "a b" is not the name of an attribute"#),
    (#"{"output": "/nowhere/at/all/access.log"}"#, "cannot open /nowhere/at/all/access.log: No such file"),
  ])
  func `a wrong configuration is refused, and the error names the key or path`(
    configuration: String, message: String
  ) throws {
    let entry = try entryPoint(of: "access-log")
    let value = try JSONValue(parsing: configuration)
    let refusal = #expect(throws: StubRefusal.self) { try StubInstance(entry, value) }
    #expect(refusal?.message.contains(message) == true, "\(refusal?.message ?? "")")
  }
}
