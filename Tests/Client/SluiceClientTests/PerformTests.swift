import SluiceAssembly
import SluiceClient
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Requests whose bodies can be used only while a closure runs.
@Suite struct PerformTests {
  private struct Failure: Error, Equatable {}

  private static func answer(_ version: HTTPVersion, _ stream: UInt32 = 1) -> [UInt8] {
    version == .http2
      ? HTTP2Frame.settings + HTTP2Frame.head : Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
  }

  private static func piece(_ text: String, _ version: HTTPVersion) -> [UInt8] {
    version == .http2 ? HTTP2Frame.data(text) : Array("\(text.utf8.count)\r\n\(text)\r\n".utf8)
  }

  private static func end(_ version: HTTPVersion) -> [UInt8] {
    version == .http2 ? HTTP2Frame.data("", endsStream: true) : Array("0\r\n\r\n".utf8)
  }

  private static func receiveHead(_ version: HTTPVersion) -> [ScriptStep] {
    version == .http2 ? [.receive(24), .receiveFrame(type: 1)] : [.receiveHead]
  }

  /// Reads a piece that the client sends as one frame or chunk.
  private static func receive(_ text: String, _ version: HTTPVersion) -> ScriptStep {
    version == .http2 ? .receiveFrame(type: 0) : .receive(piece(text, version).count)
  }

  /// The settings for a server that speaks only this version.
  private static func speaking(_ version: HTTPVersion) -> (inout Configuration) -> Void {
    {
      $0.transport.assumesHTTP2 = version == .http2
    }
  }

  @Test func `the closure gets the response, and the call returns the closure's result`() async throws {
    let server = try LoopbackServer { _ in .text("a\nb\n", status: 201) }
    defer { server.stop() }
    try await withClient { client in
      let lines = try await client.perform(Request(url: server.url())) { response, reader in
        #expect(response.status == 201)
        return try await reader.lines.reduce(into: []) { $0.append($1) }
      }
      #expect(lines == ["a", "b"])
    }
  }

  @Test func `when the closure returns, the rest of the body is not read`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(body: .generated(pattern, byteCount: 1 << 40, chunked: false))
    }
    defer { server.stop() }
    try await withClient { client in
      for _ in 0..<3 {
        let first = try await client.perform(Request(url: server.url())) { _, reader in
          try await reader.first { _ in true }
        }
        #expect(first == UInt8(ascii: "0"))
      }
      var kept: ResponseBytes?
      try await client.perform(Request(url: server.url())) { _, reader in kept = reader }
      let reader = try #require(kept)
      let error = await failure { () throws(TransactionError) in for try await _ in reader.chunks {} }
      #expect(error?.code == .cancelled)
    }
  }

  @Test(arguments: [HTTPVersion.http11, .http2])
  func `interleaved echo: each piece is sent after the previous piece has come back`(
    _ version: HTTPVersion
  ) async throws {
    let words = ["one", "two", "three"]
    let echoes = words.flatMap { [Self.receive($0, version), .send(Self.piece($0, version))] }
    let server = try ScriptedServer([
      Self.receiveHead(version) + [.send(Self.answer(version))] + echoes + [.send(Self.end(version)), .receiveToEnd]
    ])
    defer { server.stop() }
    let url = try server.url()
    let (wanted, next) = AsyncStream.makeStream(of: String.self)
    let heard = try await withClient(Self.speaking(version)) { client in
      try await client.perform(
        Request(method: "POST", url: url),
        body: { writer in
          for await word in wanted { try await writer.write(word) }
        }
      ) { _, reader in
        var heard: [String] = []
        next.yield(words[0])
        for try await chunk in reader.chunks {
          heard.append(String(decoding: chunk, as: UTF8.self))
          if heard.count < words.count { next.yield(words[heard.count]) } else { next.finish() }
        }
        return heard
      }
    }
    #expect(heard == words)
  }

  @Test(arguments: [HTTPVersion.http11, .http2])
  func `interleaved speaking: the server speaks first, and each side answers the other`(
    _ version: HTTPVersion
  ) async throws {
    let server = try ScriptedServer([
      Self.receiveHead(version) + [
        .send(Self.answer(version)), .send(Self.piece("ping 1", version)), Self.receive("pong 1", version),
        .send(Self.piece("ping 2", version)), Self.receive("pong 2", version), .send(Self.end(version)), .receiveToEnd,
      ]
    ])
    defer { server.stop() }
    let url = try server.url()
    let (answers, next) = AsyncStream.makeStream(of: String.self)
    try await withClient(Self.speaking(version)) { client in
      try await client.perform(
        Request(method: "POST", url: url),
        body: { writer in
          for await answer in answers { try await writer.write(answer) }
        }
      ) { _, reader in
        for try await chunk in reader.chunks {
          next.yield(String(decoding: chunk, as: UTF8.self).replacing("ping", with: "pong"))
        }
        next.finish()
      }
    }
    #expect(server.received.first?.firstRange(of: "pong 2".utf8) != nil)
  }

  @Test(arguments: [HTTPVersion.http11, .http2])
  func `trailers that are known only at the end are sent, and the response's trailers can be read`(
    _ version: HTTPVersion
  ) async throws {
    let isHTTP2 = version == .http2
    let trailers =
      isHTTP2
      ? HTTP2Frame.data("x") + HTTP2Frame.headers(HTTP2Frame.field("x-back", "8"), endsStream: true)
      : Array("1\r\nx\r\n0\r\nX-Back: 8\r\n\r\n".utf8)
    let last: [ScriptStep] = isHTTP2 ? [.receiveFrame(type: 1)] : [.receive("0\r\nX-Sum: 7\r\n\r\n".utf8.count)]
    let server = try ScriptedServer([
      Self.receiveHead(version) + [.send(Self.answer(version)), Self.receive("hi", version)] + last + [
        .send(trailers), .receiveToEnd,
      ]
    ])
    defer { server.stop() }
    let url = try server.url()
    let back = try await withClient(Self.speaking(version)) { client in
      try await client.perform(
        Request(method: "POST", url: url),
        body: { writer in
          try await writer.write("hi")
          try writer.setTrailers(["X-Sum": "7"])
        }
      ) { _, reader in
        #expect(reader.trailers == nil)
        for try await _ in reader.chunks {}
        return reader.trailers?["x-back"]
      }
    }
    #expect(back == "8")
    if !isHTTP2 { #expect(server.receivedText.first?.hasSuffix("2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n") == true) }
  }

  @Test func `trailers that must not be sent fail the request`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    for (field, version, code) in [
      ("Content-Length", HTTPVersion.http11, ErrorCode.invalidHeader), ("X-Sum", .http10, .transport),
    ] {
      try await withClient({ $0.transport.httpVersion = version }) { client in
        let url = try server.url()
        await #expect {
          try await client.perform(
            Request(method: "POST", url: url),
            body: { writer in
              try await writer.write("hi")
              try writer.setTrailers([field: "7"])
            }
          ) { _, reader in
            for try await _ in reader.chunks {}
          }
        } throws: { ($0 as? TransactionError)?.code == code }
      }
    }
    #expect(server.requests.isEmpty)
  }

  @Test func `an error that the writer throws is the error of the call, and the body is not complete`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    try await withClient { client in
      let url = try server.url()
      await #expect(throws: Failure()) {
        try await client.perform(
          Request(method: "POST", url: url),
          body: { writer in
            try await writer.write("a part")
            throw Failure()
          }
        ) { _, _ in
        }
      }
      #expect(server.requests.isEmpty)
    }
  }

  @Test func `when the closure throws, the writer is cancelled, and ends before the call ends`() async throws {
    let hasEnded = Watched(false)
    let server = try ScriptedServer(.receiveHead, .send(Self.answer(.http11)), .receiveToEnd)
    defer { server.stop() }
    let url = try server.url()
    try await withClient { client in
      await #expect(throws: Failure()) {
        try await client.perform(
          Request(method: "POST", url: url),
          body: { writer in
            defer { hasEnded.update { $0 = true } }
            while true { try await writer.write([UInt8](repeating: 65, count: 100_000)) }
          }
        ) { _, _ in
          throw Failure()
        }
      }
      #expect(hasEnded.value)
    }
  }

  @Test func `a call ends if the server answers before it has received the whole body`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno"), .receiveToEnd)
    defer { server.stop() }
    let url = try server.url()
    try await withClient { client in
      let text = try await client.perform(
        Request(method: "POST", url: url),
        body: { writer in
          while true { try await writer.write([UInt8](repeating: 65, count: 100_000)) }
        }
      ) { response, reader in
        #expect(response.status == 413)
        return try await reader.chunks.reduce(into: []) { $0 += $1 }
      }
      #expect(text == Array("no".utf8))
    }
  }

  @Test func `when the call ends, all tasks that write at the same time end`() async throws {
    let hasBegun = Signal()
    let server = try ScriptedServer([[.receiveHead, .signal(hasBegun), .wait(Signal())]])
    let url = try server.url()
    try await withClient { client in
      let call = Task {
        try await client.perform(
          Request(method: "POST", url: url),
          body: { writer in
            try await withThrowingTaskGroup(of: Void.self) { group in
              for _ in 0..<4 {
                group.addTask { for _ in 0..<20 { try await writer.write([UInt8](repeating: 65, count: 2_000_000)) } }
              }
              try await group.waitForAll()
            }
          }
        ) { _, _ in }
      }
      try await hasBegun.wait(for: "the request")
      call.cancel()
      await #expect { try await call.value } throws: { ($0 as? TransactionError)?.code == .cancelled }
    }
    server.stop()
  }

  @Test func `a write ends when the response is complete, even if the closure still runs`() async throws {
    let hasEnded = Signal()
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno"), .receiveToEnd)
    defer { server.stop() }
    let url = try server.url()
    try await withClient { client in
      try await client.perform(
        Request(method: "POST", url: url),
        body: { writer in
          defer { hasEnded.set() }
          while true { try await writer.write([UInt8](repeating: 65, count: 100_000)) }
        }
      ) { _, reader in
        for try await _ in reader.chunks {}
        try await hasEnded.wait(for: "the writer")
      }
    }
  }

  @Test func `a body whose length differs from the announced length fails the call`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let url = try server.url()
    try await withClient { client in
      for (count, text) in [(5, "hi"), (1, "hi"), (-1, "hi"), (Int.min, "")] {
        await #expect {
          try await client.perform(
            Request(method: "POST", url: url), byteCount: count,
            body: { writer in
              try await writer.write(text)
            }
          ) { _, reader in
            for try await _ in reader.chunks {}
          }
        } throws: { ($0 as? TransactionError)?.code == .bodyFile }
      }
      let status = try await client.perform(
        Request(method: "POST", url: url), byteCount: 2,
        body: { writer in
          #expect(throws: TransactionError.self) { try writer.setTrailers(["a": "b"]) }
          try await writer.write("hi")
        }
      ) { response, _ in
        response.status
      }
      #expect(status == 200 && server.requests.last?.value(of: "content-length") == "2")
    }
  }

  @Test func `if the task is cancelled, both closures end`() async throws {
    let (hasBegun, isWriting) = (Signal(), Signal())
    let hasEnded = Watched(false)
    let server = try ScriptedServer(.receiveHead, .send(Self.answer(.http11)), .signal(hasBegun), .receiveToEnd)
    defer { server.stop() }
    let url = try server.url()
    try await withClient { client in
      let call = Task {
        try await client.perform(
          Request(method: "POST", url: url),
          body: { _ in
            defer { hasEnded.update { $0 = true } }
            isWriting.set()
            try await untilCancelled()
          }
        ) { _, reader in
          for try await _ in reader.chunks {}
        }
      }
      try await hasBegun.wait(for: "the response")
      // The server can answer before the loop asks for the body. If the call was cancelled before that, no writer would
      // have started.
      try await isWriting.wait(for: "the body")
      call.cancel()
      await #expect { try await call.value } throws: { ($0 as? TransactionError)?.code == .cancelled }
      #expect(hasEnded.value)
    }
  }

  @Test func `a call ends if its body fails while the server does not read`() async throws {
    struct Failure: Error {}
    let (isReceived, isEnded) = (Signal(), Signal())
    let server = try ScriptedServer(.receiveHead, .signal(isReceived), .wait(isEnded))
    defer { isEnded.set() }
    try await withClient({
      $0.deadline = nil
      $0.transport.timeout = .seconds(3600)
    }) { client in
      let request = Request(method: "POST", url: try server.url())
      await #expect(throws: Failure.self) {
        try await client.perform(
          request,
          body: { writer in
            // This is more than the socket accepts, so the transport does not ask for another piece.
            let writing = Task { try await writer.write([UInt8](repeating: 65, count: 32 << 20)) }
            try await isReceived.wait(for: "the head")
            _ = writing
            throw Failure()
          }
        ) { _, _ in }
      }
    }
  }
}
