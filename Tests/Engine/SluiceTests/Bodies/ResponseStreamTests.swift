import Glibc
import Sluice
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Bodies that a stage writes piece by piece (`sluice.response-stream/1`).
@Suite struct ResponseStreamTests {
  private static func run<Result>(
    _ lists: String = #""request": ["stage"]"#, deadline: String = "60s", plugins: String = "",
    _ body: (Engine, Watched<[String]>) async throws -> Result
  ) async throws -> Result {
    let product = try await PluginCompiler.compile("streams-responses")
    chmod(product.path, 0o755)
    let text = """
      {"plugins": {"stage": {"library": "\(product.path)"}\(plugins)}, \(lists), "deadline": "\(deadline)",
       "transport": {"loops": 1}}
      """
    let log = Watched<[String]>([])
    let engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line.message) } }
    let result = try await body(engine, log)
    await engine.shutdown()
    withExtendedLifetime(product) {}
    // Each stream was closed once, before the engine shut down.
    #expect(told("closed", log) == told("open", log).map { _ in "1" })
    return result
  }

  private static func told(_ name: String, _ log: Watched<[String]>) -> [String] {
    log.value.filter { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
  }

  private static func request(_ path: String) throws -> Request {
    Request(url: try HTTPURL("http://127.0.0.1:1" + path))
  }

  @Test(arguments: [(0, 10), (1, 0), (3, 10), (100, 1000)])
  func `the caller gets the bytes in the order in which they were written`(_ pieces: Int, _ bytes: Int) async throws {
    try await Self.run { engine, log in
      let result = await engine.transaction(try Self.request("/write/\(pieces)/\(bytes)"))
      #expect(result.error == nil, "\(String(describing: result.error))")
      #expect(result.response?.body.bytes == [UInt8](repeating: UInt8(ascii: "x"), count: pieces * bytes))
      // A stream that is opened before there is a response is refused.
      #expect(Self.told("early", log) == ["-2"] && Self.told("written", log) == ["0"])
      // A thread of the plugin logs this line, perhaps after the result.
      try await log.wait(for: "the second end") { $0.contains { $0.hasPrefix("end-again=") } }
      #expect(Self.told("end", log) == ["0"] && Self.told("end-again", log) == ["3"])
    }
  }

  @Test func `a writer that is faster than the caller is held back, and no byte is lost`() async throws {
    try await Self.run { engine, log in
      let (sink, cancellation) = (SlowSink(), Cancellation())
      let end = Watched<TransactionResult?>(nil)
      engine.submit(try Self.request("/write/40/100000"), sink: sink, cancellation: cancellation) { result in
        end.update { $0 = result }
      }
      try await log.wait(for: "a write that is refused") { $0.contains("limit=1") }
      sink.isOpen.update { $0 = true }
      cancellation.resumeReceiving()
      try await end.wait { $0 != nil }
      #expect(end.value?.error == nil, "\(String(describing: end.value?.error))")
      #expect(sink.byteCount.value == 4_000_000)
      #expect(Self.told("written", log) == ["0"])
    }
  }

  @Test func `a body that is shorter or longer than announced fails the transaction`() async throws {
    try await Self.run { engine, _ in
      let right = await engine.transaction(try Self.request("/announce/5/5"))
      #expect(right.error == nil && right.response?.body.bytes?.count == 5)
      for bytes in [4, 6] {
        let wrong = await engine.transaction(try Self.request("/announce/5/\(bytes)"))
        #expect(wrong.error?.code == "body_file", "\(String(describing: wrong.error))")
      }
    }
  }

  @Test func `a writer can fail the transaction`() async throws {
    try await Self.run { engine, log in
      let result = await engine.transaction(try Self.request("/fail"))
      #expect(result.error?.code == "broken" && result.error?.stage == "stage")
      #expect(result.error?.message == "the source broke" && result.response?.body.isEmpty != false)
      try await log.wait(for: "the return of fail") { $0.contains("fail=0") }
    }
  }

  @Test func `a writer that never writes is cut off by the transaction's deadline`() async throws {
    try await Self.run(deadline: "100ms") { engine, log in
      let result = await engine.transaction(try Self.request("/never"))
      #expect(result.error?.code == "deadline")
      try await log.wait(for: "the end of the stream") { $0.contains("closed=1") }
    }
  }

  @Test func `a cancelled caller closes the stream`() async throws {
    try await Self.run { engine, log in
      let cancellation = Cancellation()
      let ends = Watched(0)
      engine.submit(try Self.request("/never"), cancellation: cancellation) { _ in ends.update { $0 += 1 } }
      try await log.wait(for: "an open stream") { $0.contains("open=0") }
      cancellation.cancel()
      try await ends.wait { $0 == 1 }
      try await log.wait(for: "the end of the stream") { $0.contains("closed=1") }
    }
  }

  @Test func `a stage that wants the whole body waits for a stream that an earlier stage has begun in on_response`()
    async throws
  {
    let server = try LoopbackServer { _ in .text("the server's own body") }
    defer { server.stop() }
    let edits = try await PluginCompiler.compile("marks-bodies", defines: ["KIND=WHOLE", "SIDE_IS_REQUEST=0"])
    chmod(edits.path, 0o755)
    try await Self.run(
      #""request": ["stage"], "response": ["stage", "whole"]"#, plugins: #", "whole": {"library": "\#(edits.path)"}"#
    ) { engine, log in
      let url = try HTTPURL(server.baseURL + "/replace/3/2")
      let result = await engine.transaction(Request(url: url))
      #expect(result.error == nil, "\(String(describing: result.error))")
      #expect(result.response?.body.bytes.map { String(decoding: $0, as: UTF8.self) } == "xxxxxx|whole")
      let resized = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/resize/4/4")))
      #expect(resized.response?.body.bytes.map { String(decoding: $0, as: UTF8.self) } == "xxxx|whole")
      #expect(Self.told("length", log) == ["none", "4"])
    }
    withExtendedLifetime(edits) {}
  }

  /// If each piece were read alone, the time would grow with the square of the number of pieces.
  @Test func `pieces of one byte arrive together, in order`() async throws {
    try await Self.run { engine, _ in
      let sink = CountingSink()
      let end = Watched<TransactionResult?>(nil)
      engine.submit(try Self.request("/write/100000/1"), sink: sink) { result in end.update { $0 = result } }
      try await end.wait { $0 != nil }
      #expect(end.value?.error == nil && sink.bytes.value == 100_000)
    }
  }

  @Test func `a stage that wants the whole body, and a stage that sees pieces, get the written body`() async throws {
    let edits = try await PluginCompiler.compile("marks-bodies", defines: ["KIND=WHOLE", "SIDE_IS_REQUEST=0"])
    chmod(edits.path, 0o755)
    try await Self.run(
      #""request": ["stage"], "response": ["whole"]"#, plugins: #", "whole": {"library": "\#(edits.path)"}"#
    ) { engine, _ in
      let result = await engine.transaction(try Self.request("/write/2/2"))
      #expect(result.error == nil, "\(String(describing: result.error))")
      #expect(result.response?.body.bytes.map { String(decoding: $0, as: UTF8.self) } == "xxxx|whole")
    }
    withExtendedLifetime(edits) {}
  }
}

private final class CountingSink: BodySink {
  let bytes = Watched(0)

  func begin(_ head: Response) {}
  func receive(_ piece: [UInt8]) -> BodyProgress {
    bytes.update { $0 += piece.count }
    return .proceed
  }
}

/// A sink that pauses after each piece until `isOpen` is true.
private final class SlowSink: BodySink {
  let byteCount = Watched(0)
  let isOpen = Watched(false)

  func begin(_ head: Response) {}
  func receive(_ piece: [UInt8]) -> BodyProgress {
    byteCount.update { $0 += piece.count }
    return isOpen.value ? .proceed : .pause
  }
}
