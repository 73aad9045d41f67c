import SluiceAssembly
import SluiceClient
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@Suite struct BytesTests {
  @Test func `the head is available before the body, and the bytes arrive in order`() async throws {
    let rest = Signal()
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nab"), .wait(rest), .send("cdef"))
    defer { server.stop() }
    try await withClient { client in
      let (bytes, response) = try await client.bytes(from: server.url())
      #expect(response.status == 200 && response.body.isEmpty)
      var read: [UInt8] = []
      for try await byte in bytes {
        read.append(byte)
        if read.count == 2 { rest.set() }
      }
      #expect(read == Array("abcdef".utf8))
    }
  }

  @Test func `trailers are available after the last byte`() async throws {
    let server = try ScriptedServer(
      .receiveHead,
      .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Sum: 7\r\n\r\n"))
    defer { server.stop() }
    try await withClient { client in
      let (bytes, _) = try await client.bytes(from: server.url())
      for try await _ in bytes.chunks {}
      #expect(bytes.trailers?["x-sum"] == "7")
    }
  }

  @Test func `a reader that starts late gets every byte, and other requests are answered before that`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/other"
        ? .text("other") : ServerResponse(body: .generated(pattern, byteCount: 20_000_000, chunked: false))
    }
    defer { server.stop() }
    // The body has to wait for its reader, however slow the machine is.
    try await withClient {
      $0.deadline = nil
      $0.transport.timeout = .seconds(3600)
    } _: { client in
      let (bytes, _) = try await client.bytes(from: server.url())
      // Other requests of the same loop are answered while nobody reads the body.
      for _ in 0..<20 { #expect(try await client.data(from: server.url("/other")).bytes == Array("other".utf8)) }
      var count = 0
      var iterator = bytes.chunks.makeAsyncIterator()
      while let chunk = try await iterator.next() { count += chunk.count }
      #expect(count == 20_000_000)
    }
  }

  @Test func `a body that a stage made is read like a body from the network`() async throws {
    try await withClient {
      $0.addStage("maker", StageCode(request: { request, _ in request.respond(status: 203).body = [1, 2, 3] }))
    } _: { client in
      let (bytes, response) = try await client.bytes(from: "http://127.0.0.1:1/")
      var read: [UInt8] = []
      for try await byte in bytes { read.append(byte) }
      #expect(response.status == 203 && response.body.isEmpty && read == [1, 2, 3])
    }
  }

  @Test func `a body that was collected in a file is read like a body from the network`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(body: .generated(pattern, byteCount: 900_000, chunked: false))
    }
    defer { server.stop() }
    // The engine collects the whole body, because it must extract a payload from it.
    try await withClient {
      $0.extract = .text
      $0.transport.spillBytes = 1000
    } _: { client in
      var read: [UInt8] = []
      for try await chunk in try await client.bytes(from: server.url()).bytes.chunks { read += chunk }
      #expect(read == pattern.bytes(from: 0, count: 900_000))
    }
  }

  @Test func `an error status has a body like any other`() async throws {
    let server = try LoopbackServer { _ in .text("gone", status: 410) }
    defer { server.stop() }
    try await withClient { client in
      let (bytes, response) = try await client.bytes(from: server.url())
      var read: [UInt8] = []
      for try await byte in bytes { read.append(byte) }
      #expect(response.status == 410 && read == Array("gone".utf8))
    }
  }

  @Test func `bytes that arrived before a failure are read before the failure is thrown`() async throws {
    let server = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close)
    defer { server.stop() }
    try await withClient { client in
      let (bytes, _) = try await client.bytes(from: server.url())
      var read: [UInt8] = []
      let error = await #expect(throws: TransactionError.self) { for try await byte in bytes { read.append(byte) } }
      #expect(error?.code == .connectionLost && read == Array("half".utf8))
    }
  }

  @Test func `a connection that is refused fails the call`() async throws {
    try await withClient { client in
      let error = await failure { () throws(TransactionError) in _ = try await client.bytes(from: "http://127.0.0.1:1/")
      }
      #expect(error?.code == .connect)
    }
  }

  @Test(arguments: ["", "0"]) func `an empty body is an empty sequence`(_ length: String) async throws {
    let head = length.isEmpty ? "204 No Content\r\n" : "200 OK\r\nContent-Length: 0\r\n"
    let server = try ScriptedServer(.receiveHead, .send("HTTP/1.1 \(head)\r\n"))
    defer { server.stop() }
    try await withClient { client in
      let (bytes, _) = try await client.bytes(from: server.url())
      var iterator = bytes.makeAsyncIterator()
      #expect(try await iterator.next() == nil)
      #expect(try await iterator.next() == nil)
    }
  }

  @Test func `a second task that reads the body at the same time is refused, and the first task gets the body`()
    async throws
  {
    let rest = Signal()
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"), .wait(rest), .send("x"))
    defer { server.stop() }
    try await withClient { client in
      let (bytes, _) = try await client.bytes(from: server.url())
      // Either of the two tasks can be the first.
      let tasks = (0..<2).map { _ in
        Task { () -> Result<Int, TransactionError> in
          do throws(TransactionError) {
            var iterator = bytes.chunks.makeAsyncIterator()
            return .success(try await iterator.next()?.count ?? 0)
          } catch {
            rest.set()
            return .failure(error)
          }
        }
      }
      var outcomes: [String] = []
      for task in tasks {
        switch await task.value {
        case .success(let count): outcomes.append("\(count)")
        case .failure(let error): outcomes.append("\(error.code)")
        }
      }
      #expect(outcomes.sorted() == ["1", "sink"])
    }
  }
}
