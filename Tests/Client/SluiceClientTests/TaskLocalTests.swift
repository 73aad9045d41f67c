import SluiceClient
import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// A value of the caller, such as the metadata of its log.
private enum Caller {
  @TaskLocal static var name = "nobody"
}

/// Every place where the client calls the code of the caller has the task-local values of the call.
@Suite struct TaskLocalTests {
  /// Notes the value in each method of a delegate.
  private final class Noting: TransactionDelegate {
    let notes = Locked<[String]>([])
    /// Whether the asynchronous methods suspend before they note the value.
    let suspends: Bool

    init(suspends: Bool) { self.suspends = suspends }

    private func note(_ place: String) { notes.withLock { $0.append("\(place) \(Caller.name)") } }

    func transaction(_ context: ResponseContext, willFollow redirect: Redirect) async throws -> RedirectDecision {
      if suspends { await Task.yield() }
      note("redirect")
      return .follow
    }

    func transaction(_ context: ResponseContext, didReceive offer: ChallengeOffer) async throws -> ChallengeDecision {
      if suspends { await Task.yield() }
      note("challenge")
      return .credentials(user: "u", password: "p")
    }

    func transaction(_ id: TransactionID, didReceiveInformational status: Int, headers: HeaderFields) {
      note("informational")
    }

    func transaction(_ id: TransactionID, didEndHop metrics: HopMetrics) { note("hop") }
    func transactionDidComplete(_ result: TransactionResult) { note("end") }
  }

  private static func script() throws -> ScriptedServer {
    try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"),
      .receiveHead,
      .send("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n"),
      .receiveHead, .send("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .receiveToEnd)
  }

  private static let all = ["redirect", "hop", "challenge", "hop", "informational", "hop", "end"]

  @Test(arguments: [false, true]) func `a delegate of a call has the values of the call`(suspends: Bool) async throws {
    let server = try Self.script()
    defer { server.stop() }
    let delegate = Noting(suspends: suspends)
    try await withClient { client in
      let url = try server.url()
      let (bytes, _) = try await Caller.$name.withValue("me") { try await client.data(from: url, delegate: delegate) }
      #expect(bytes == Array("ok".utf8))
    }
    let notes = delegate.notes.withLock { $0 }
    #expect(notes.sorted() == Self.all.map { "\($0) me" }.sorted(), "\(notes)")
  }

  @Test func `a delegate of a client has the values of each call`() async throws {
    let server = try LoopbackServer { _ in .text("ok") }
    defer { server.stop() }
    let delegate = Noting(suspends: false)
    try await withClient(delegate: delegate) { client in
      let url = try server.url()
      await withTaskGroup { group in
        for number in 1...20 {
          group.addTask {
            await Caller.$name.withValue("\(number)") { _ = try? await client.data(from: url) }
          }
        }
      }
    }
    let notes = delegate.notes.withLock { $0 }
    #expect(Set(notes) == Set((1...20).flatMap { ["hop \($0)", "end \($0)"] }) && notes.count == 40, "\(notes)")
  }

  @Test func `a delegate of a submitted request has the values, without a task too`() async throws {
    let server = try LoopbackServer { _ in .text("ok") }
    defer { server.stop() }
    let delegate = Noting(suspends: false)
    try await withClient { client in
      let request = Request(url: try server.url())
      _ = await Handover<Bool>.wait { result in
        _ = SystemThread.start {
          Caller.$name.withValue("thread") {
            client.engine.submit(request, delegate: delegate) { _ in result.give(true) }
          }
        }
      }
    }
    #expect(delegate.notes.withLock { $0 } == ["hop thread", "end thread"])
  }

  @Test func `the sequence of an upload has the values of the call`() async throws {
    let server = try LoopbackServer { request in ServerResponse(body: .bytes(request.body)) }
    defer { server.stop() }
    try await withClient { client in
      let request = Request(method: "POST", url: try server.url())
      let pieces = AsyncStream { continuation in
        continuation.yield(1)
        continuation.finish()
      }.map { _ in Array(Caller.name.utf8) }
      let (bytes, _) = try await Caller.$name.withValue("me") {
        try await client.upload(for: request, from: pieces)
      }
      #expect(String(decoding: bytes, as: UTF8.self) == "me")
    }
  }

  @Test func `both closures of perform have the values of the call`() async throws {
    let server = try LoopbackServer { request in ServerResponse(body: .bytes(request.body)) }
    defer { server.stop() }
    try await withClient { client in
      let request = Request(method: "POST", url: try server.url())
      let names = try await Caller.$name.withValue("me") {
        try await client.perform(request) {
          try await $0.write(Caller.name)
        } _: { _, reader in
          try await reader.lines.reduce(into: [Caller.name]) { $0.append($1) }
        }
      }
      #expect(names == ["me", "me"])
    }
  }

  @Test func `a body that is never sent leaves no task behind`() async throws {
    let (released, body) = (Signal(), Locked<Body?>(nil))
    final class Probe: Sendable {
      let released: Signal
      init(_ released: Signal) { self.released = released }
      deinit { released.set() }
    }
    body.withLock { [probe = Probe(released)] body in
      let pieces = AsyncStream<[UInt8]> { $0.finish() }.map { piece in
        withExtendedLifetime(probe) { piece }
      }
      body = .stream(ProducedBody(pieces, byteCount: nil).stream)
    }
    body.withLock { $0 = nil }
    try await released.wait(for: "the end of the task")
  }
}
