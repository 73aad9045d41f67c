import Glibc
import Sluice
import SluicePipeline
import SluiceReplay
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import SluiceTraceContext
import Testing

/// The recording of a transaction's messages for a replay.
@Suite struct RecordingTests {
  static func recorded(
    _ request: Request, _ configuration: Configuration = Configuration(), sink: (any BodySink)? = nil
  ) async throws -> RecordedExchange {
    let engine = try Engine(configuration)
    var request = request
    request.wantsRecording = true
    let result = await withCheckedContinuation { continuation in
      engine.submit(request, sink: sink) { continuation.resume(returning: $0) }
    }
    await engine.shutdown()
    return try #require(result.recording)
  }

  static func text(_ body: Body?) -> String? { body?.bytes.map { String(decoding: $0, as: UTF8.self) } }

  @Test func `the recording has the response of each hop, over redirects and retries`() async throws {
    let count = Locked(0)
    let server = try LoopbackServer { request in
      if request.path == "/start" { return ServerResponse(status: 302, headers: [HeaderLine("Location", "/end")]) }
      let number = count.withLock { count in
        count += 1
        return count
      }
      return ServerResponse(status: number == 1 ? 503 : 200, body: .bytes(Array("answer \(number)".utf8)))
    }
    defer { server.stop() }
    var configuration = Configuration()
    configuration.retry.statuses = StatusSet([503...503])
    configuration.retry.backoff.base = .milliseconds(1)
    let url = try HTTPURL(server.baseURL + "/start")
    let exchange = try await Self.recorded(Request(url: url, headers: ["x-a": "1"]), configuration)
    #expect(exchange.request.url == url && exchange.request.headers["x-a"] == "1")
    #expect(exchange.time > .seconds(1_000_000_000))
    #expect(exchange.hops.map { $0.response?.status } == [302, 503, 302, 200])
    #expect(Self.text(exchange.hops.last?.response?.body) == "answer 2")
    #expect(exchange.hops.allSatisfy { $0.wasIssued && $0.error == nil })
    #expect(exchange.hops.last?.isBodyWhole == true)
  }

  @Test func `a hop is recorded as issued if its connection is lost, but not if its connection is refused`()
    async throws
  {
    let refused = try await Self.recorded(Request(url: HTTPURL("http://127.0.0.1:1/")))
    let hop = try #require(refused.hops.first)
    #expect(!hop.wasIssued && hop.response == nil && hop.error?.code == .connect)
    let server = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .reset)
    defer { server.stop() }
    let lost = try await Self.recorded(Request(url: HTTPURL(server.baseURL + "/")))
    let cut = try #require(lost.hops.first)
    #expect(cut.wasIssued && cut.response?.status == 200 && cut.error != nil && !cut.isBodyWhole)
  }

  @Test func `an attempt that took too long is recorded as a timeout`() async throws {
    let held = Signal()
    let server = try ScriptedServer(.receiveHead, .wait(held))
    defer {
      held.set()
      server.stop()
    }
    var configuration = Configuration()
    configuration.transport.timeout = .milliseconds(50)
    configuration.maximumAttempts = 1
    let exchange = try await Self.recorded(Request(url: HTTPURL(server.baseURL + "/")), configuration)
    #expect(exchange.hops.map { $0.error?.code } == [.timeout])
  }

  @Test func `bodies that are streamed, binary or in files are recorded`() async throws {
    let binary: [UInt8] = [0, 255, 13, 10, 0]
    let large = [UInt8](repeating: UInt8(ascii: "x"), count: 100_000)
    let server = try LoopbackServer { .init(body: .bytes($0.path == "/large" ? large : binary)) }
    defer { server.stop() }
    let pieces = Locked([Array("ab".utf8), Array("cd".utf8)])
    let stream = BodyStream { _ in pieces.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    let once = try await Self.recorded(
      Request(method: "POST", url: HTTPURL(server.baseURL + "/"), body: .stream(stream)))
    #expect(once.isRequestStreamed && once.isRequestWhole && Self.text(once.request.body) == "abcd")
    #expect(once.hops.first?.response?.body.bytes == binary)
    #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["abcd"])
    var configuration = Configuration()
    configuration.transport.spillBytes = 1000
    let spilled = try await Self.recorded(Request(url: HTTPURL(server.baseURL + "/large")), configuration)
    guard case .file(let file) = spilled.hops.first?.response?.body else {
      Issue.record("not in a file: \(spilled.hops)")
      return
    }
    #expect(file.byteCount == large.count && access(file.path, R_OK) == 0)
  }

  @Test func `a body that went to a sink is recorded too`() async throws {
    let server = try LoopbackServer { _ in .text("streamed") }
    defer { server.stop() }
    let sink = CountingSink()
    let exchange = try await Self.recorded(Request(url: HTTPURL(server.baseURL + "/")), sink: sink)
    #expect(Self.text(exchange.hops.first?.response?.body) == "streamed")
    #expect(sink.bytes.withLock { $0 } == 8)
  }

  @Test func `an unwanted body is marked as missing`() async throws {
    let server = try LoopbackServer { _ in .text("real") }
    defer { server.stop() }
    let product = try await PluginCompiler.compile("differs-by-build", defines: [#"BODY="made""#])
    defer { withExtendedLifetime(product) {} }
    let exchange = try await Self.recorded(
      Request(url: HTTPURL(server.baseURL + "/")), try JournalTests.configuration(product.path))
    #expect(exchange.hops.first?.isBodyWhole == false && exchange.hops.first?.response?.status == 200)
  }

  // MARK: Files

  private static func sample(_ number: Int, body: Body = .text("{}")) throws -> RecordedExchange {
    var request = Request(
      method: "POST", url: try HTTPURL("https://u:p@a.example/\(number)?sig=hidden-1&x=1"),
      headers: ["authorization": "Bearer hidden-2", "x-own": "hidden-3", "x-a": "\(number)"], body: body,
      timeout: .seconds(3))
    request.headers.append("x-marked", "hidden-4", marks: .sensitive)
    var exchange = RecordedExchange(request)
    exchange.time = .seconds(1_700_000_000)
    exchange.parent.traceparent = "00-0123456789abcdef0011223344556677-8899aabbccddeeff-01"
    exchange.hops = [
      RecordedHop(wasIssued: false, error: TransportError(.connect, "nobody listens", isBeforeSending: true)),
      RecordedHop(
        response: Response(
          status: 200, headers: ["set-cookie": "hidden-5", "x-b": "1"], body: .bytes([0, 1, 255]),
          trailers: ["x-t": "2"], version: .http11)),
    ]
    return exchange
  }

  @Test func `only the owner can read a file of recordings, and it contains no secrets`() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.path("recordings.jsonl")
    _ = try folder.write("something that others may read", to: "recordings.jsonl")
    var redaction = RedactionSettings()
    redaction.headers = ["x-own"]
    try RecordingFile.write([Self.sample(1), Self.sample(2)], to: path, redaction: redaction)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    let text = String(decoding: try FileTree.read(path), as: UTF8.self)
    #expect(!text.contains("hidden") && text.contains("REDACTED"))
    let (read, isCutOff) = try RecordingFile.read(path)
    #expect(!isCutOff && read.exchanges.count == 2 && read.droppedCount == 0)
    let exchange = try #require(read.exchanges.last)
    #expect(exchange.request.headers["x-a"] == "2" && exchange.request.method == "POST")
    #expect(exchange.request.timeout == .seconds(3) && exchange.time == .seconds(1_700_000_000))
    #expect(exchange.request.url.string == "https://REDACTED:REDACTED@a.example/2?sig=REDACTED&x=1")
    #expect(exchange.parent.traceparent?.hasSuffix("-01") == true)
    #expect(exchange.hops.map(\.wasIssued) == [false, true])
    #expect(exchange.hops.first?.error == TransportError(.connect, "nobody listens", isBeforeSending: true))
    let response = try #require(exchange.hops.last?.response)
    #expect(response.body.bytes == [0, 1, 255] && response.trailers["x-t"] == "2" && response.version == .http11)
    let marked = try #require(
      exchange.request.headers.indices.first { exchange.request.headers.name(at: $0) == "x-marked" })
    #expect(exchange.request.headers.marks(at: marked).contains(.sensitive))
  }

  @Test func `a body that is too large for a file is left out and marked`() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path("recordings.jsonl")
    try RecordingFile.write([Self.sample(1, body: .bytes([UInt8](repeating: 65, count: 2 << 20)))], to: path)
    let read = try #require(try RecordingFile.read(path).recordings.exchanges.first)
    #expect(!read.isRequestWhole && read.request.body.isEmpty)
  }

  @Test func `a device or a pipe is written and not replaced, and a symbolic link stays`() throws {
    let folder = try TemporaryDirectory()
    let (link, fifo, file) = (folder.path("link"), folder.path("fifo"), folder.path("file"))
    try #require(symlink("/dev/null", link) == 0 && mkfifo(fifo, 0o600) == 0)
    try RecordingFile.write([Self.sample(1)], to: link)
    #expect(throws: RecordingFile.Failure.self) { try RecordingFile.write([Self.sample(1)], to: fifo) }
    let reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(reader) }
    try RecordingFile.write([Self.sample(1)], to: fifo)
    var bytes = [UInt8](repeating: 0, count: 65536)
    #expect(read(reader, &bytes, bytes.count) > 100)
    #expect(throws: RecordingFile.Failure.self) { try RecordingFile.write([Self.sample(1)], to: folder.path) }
    try #require(unlink(link) == 0 && symlink("file", link) == 0)
    try RecordingFile.write([Self.sample(1)], to: link)
    #expect(try RecordingFile.read(file).recordings.exchanges.count == 1)
    var status = stat()
    #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    #expect(lstat(fifo, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    #expect(Set(FileTree.names(in: folder.path)) == ["fifo", "file", "link"])
  }

  @Test func `a truncated file is read up to its end, and an invalid file is refused with its line number`() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path("recordings.jsonl")
    try RecordingFile.write([Self.sample(1), Self.sample(2)], to: path)
    let whole = try FileTree.read(path)
    #expect(truncate(path, off_t(whole.count - 30)) == 0)
    let (read, isCutOff) = try RecordingFile.read(path)
    #expect(isCutOff && read.exchanges.count == 1)
    for (text, reason) in [
      (#"{"request": {"url": "http://a/"}, "hops": [1]}"# + "\n", "an object for each"),
      ("{}\n", "line 1: recording: expected an object with \"request\" and \"hops\""),
      ("\n\n[]\n", "line 3"), ("{\"a\"\n", "not JSON"),
      (
        #"{"request": {"url": "http://a/", "body": {"file": "/etc/passwd"}}, "hops": []}"# + "\n",
        "files are not allowed"
      ),
      (#"{"request": {"url": "ftp://a/"}, "hops": []}"# + "\n", "line 1"),
      (#"{"request": {"url": "http://a/"}, "hops": [{"response": {"status": 1}}]}"# + "\n", "status"),
    ] {
      _ = try folder.write(text, to: "wrong.jsonl")
      let error = #expect(throws: RecordingFile.Failure.self) { try RecordingFile.read(folder.path("wrong.jsonl")) }
      #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }
    _ = try folder.write("", to: "empty.jsonl")
    #expect(try RecordingFile.read(folder.path("empty.jsonl")).recordings.exchanges.isEmpty)
    #expect(throws: RecordingFile.Failure.self) { try RecordingFile.read(folder.path("missing.jsonl")) }
  }

  @Test func `if there are too many recordings, only the newest are kept`() throws {
    var buffer = RecordingBuffer()
    for number in 0..<10_000 { buffer.append(try Self.sample(number)) }
    #expect(buffer.exchanges.count == 100 && buffer.droppedCount == 9900)
    #expect(buffer.exchanges.last?.request.headers["x-a"] == "9999")
    var small = RecordingBuffer(maximumCount: 100, maximumBytes: 10_000)
    for number in 0..<10 { small.append(try Self.sample(number, body: .bytes([UInt8](repeating: 1, count: 4000)))) }
    #expect(small.exchanges.count == 2)
    small.append(try Self.sample(11, body: .bytes([UInt8](repeating: 1, count: 50_000))))
    #expect(small.exchanges.map { $0.request.headers["x-a"] } == ["11"])
  }
}

private final class CountingSink: BodySink {
  let bytes = Locked(0)
  func begin(_ head: Response) {}
  func receive(_ piece: [UInt8]) -> BodyProgress {
    bytes.withLock { $0 += piece.count }
    return .proceed
  }
}
