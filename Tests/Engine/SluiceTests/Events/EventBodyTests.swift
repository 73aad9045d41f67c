import Sluice
import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// The events and phases of transactions with request bodies.
@Suite struct EventBodyTests: EventScenario {
  @Test(arguments: [1, 10_000, 65_535, 65_536, 300_000])
  func `the bytes of a body in memory are counted once as sent`(_ count: Int) async throws {
    try await withServer { server in
      let story = try await tell(post(server.baseURL + "/", .bytes([UInt8](repeating: 65, count: count))))
      #expect(story.kinds == Self.success)
      let head = try story.timings().bytesSent - count
      #expect((50..<500).contains(head))
    }
  }

  @Test func `the bytes of a streamed body are counted as sent`() async throws {
    try await withServer { server in
      let left = Locked(50)
      let body = BodyStream { _ in
        left.withLock {
          $0 -= 1; return $0 < 0 ? nil : [UInt8](repeating: 66, count: 1000)
        }
      }
      let story = try await tell(post(server.baseURL + "/", .stream(body)))
      #expect(story.kinds == Self.success)
      #expect(try story.timings().bytesSent >= 50_000)
    }
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `a body over HTTP-2 has the usual events`() async throws {
    try await withSecureServer { nginx, _, trust in
      let story = try await tell(
        post(nginx.secureBaseURL + "/post", .bytes([UInt8](repeating: 65, count: 300_000))), trust)
      #expect(story.kinds == Self.success)
      #expect(try story.timings().bytesSent > 0)
    }
  }

  @Test func `a transaction whose body fails while it is sent ends once, after did_issue`() async throws {
    struct Broken: Error {}
    let server = try ScriptedServer(.receiveToEnd)
    let left = Locked(3)
    let body = BodyStream { _ in
      try left.withLock { left throws(Broken) in
        left -= 1
        if left < 0 { throw Broken() }
      }
      return [UInt8](repeating: 66, count: 1000)
    }
    let story = try await tell(post(server.baseURL, .stream(body)))
    #expect(story.result.error != nil)
    #expect(story.kinds == Self.lostOnTheWay)
  }

  @Test func `a connection that is reset while the body is sent ends the transaction once`() async throws {
    let server = try ScriptedServer(.receive(1000), .reset)
    let story = try await tell(post(server.baseURL, .bytes([UInt8](repeating: 65, count: 8 << 20))))
    #expect(story.code == "connection_lost")
    #expect(story.kinds == Self.lostOnTheWay)
  }

  @Test func `a missing file fails before anything is issued`() async throws {
    try await withServer { server in
      let story = try await tell(post(server.baseURL, .file(FileBody(path: "/nonexistent/body", byteCount: 3))))
      #expect(story.code == "body_file")
      #expect(!story.kinds.contains(.didIssue))
      #expect(server.requests.isEmpty)
    }
  }

  @Test func `the bytes of a body in a file are counted as sent`() async throws {
    try await withServer { server in
      let folder = try TemporaryDirectory()
      let path = try folder.write(String(repeating: "f", count: 70_000), to: "body")
      let story = try await tell(post(server.baseURL + "/", .file(FileBody(path: path, byteCount: 70_000))))
      #expect(story.kinds == Self.success)
      #expect(try story.timings().bytesSent >= 70_000)
    }
  }

  @Test func `a response that comes before the whole body was sent ends the transfer`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), .receiveToEnd)
    // The body is larger than the socket buffers, so it cannot have been sent completely.
    let story = try await tell(post(server.baseURL, .bytes([UInt8](repeating: 65, count: 64 << 20))))
    #expect(story.code == "http_status")
    #expect(story.kinds == Self.lostInTheBody)
    #expect(try story.first(.didReceive).status == 413)
  }

  @Test func `each attempt counts the bytes of its own body`() async throws {
    try await withServer { server in
      let story = try await tell(post(server.baseURL + "/", .bytes([UInt8](repeating: 65, count: 10_000)))) {
        $0.addStage(
          "again", StageCode(response: { _, context in if context.attemptNumber == 0 { throw RetryRequestError() } }))
      }
      let sent = story.entries.filter { $0.kind == .didReceive }.compactMap { $0.timings?.bytesSent }
      #expect(sent.count == 2 && sent.allSatisfy { (10_000..<20_000).contains($0) }, "\(sent)")
      #expect(server.requests.map(\.body.count) == [10_000, 10_000])
    }
  }
}
