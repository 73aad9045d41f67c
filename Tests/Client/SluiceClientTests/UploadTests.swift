import Glibc
import SluiceAssembly
import SluiceClient
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

@Suite struct UploadTests {
  private static func echo() throws -> LoopbackServer {
    try LoopbackServer { request in ServerResponse(body: .bytes(request.body)) }
  }

  private static func post(_ server: LoopbackServer) throws -> Request {
    Request(method: "POST", url: try server.url())
  }

  @Test(arguments: [0, 1, 3_000_000]) func `bytes are sent as they are`(count: Int) async throws {
    let server = try Self.echo()
    defer { server.stop() }
    let sent = pattern.bytes(from: 0, count: count)
    try await withClient { client in
      let (bytes, response) = try await client.upload(for: Self.post(server), from: sent)
      #expect(bytes == sent && response.status == 200)
      #expect(server.requests.first?.value(of: "content-length") == "\(count)")
    }
  }

  @Test func `a file is sent with its length`() async throws {
    let server = try Self.echo()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let sent = pattern.bytes(from: 0, count: 400_000)
    let path = try folder.write(sent, to: "body")
    try await withClient { client in
      let (bytes, _) = try await client.upload(for: Self.post(server), fromFile: path)
      #expect(bytes == sent && server.requests.first?.value(of: "content-length") == "400000")
    }
  }

  /// stat(2) says that these files have 0 bytes, or as many as a page.
  @Test(arguments: ["/proc/version", "/proc/self/cmdline", "/sys/kernel/mm/transparent_hugepage/enabled"])
  func `a file whose size the system does not know is sent completely`(_ path: String) async throws {
    guard let content = FileDescriptor(opening: path, O_RDONLY)?.readAll(capacity: 1 << 20) else { return }
    let server = try Self.echo()
    defer { server.stop() }
    try await withClient { client in
      let (bytes, _) = try await client.upload(for: Self.post(server), fromFile: path)
      #expect(bytes == content && !content.isEmpty)
      var form = MultipartForm()
      try await form.append(name: "a", fileAt: path)
      let (sent, _) = try await client.upload(for: Self.post(server), from: form)
      #expect(
        sent.count > content.count
          && String(decoding: sent, as: UTF8.self).contains(String(decoding: content, as: UTF8.self)))
    }
  }

  @Test func `an empty file is sent as an empty body`() async throws {
    let server = try Self.echo()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let path = try folder.write("", to: "empty")
    try await withClient { client in
      let (bytes, _) = try await client.upload(for: Self.post(server), fromFile: path)
      #expect(bytes == [])
    }
    #expect(server.requests.first?.value(of: "content-length") == "0")
  }

  @Test func `a large body is sent again, without Expect, to a server that answers 417`() async throws {
    let body = [UInt8](repeating: 65, count: (1 << 20) + 1)
    let server = try ScriptedServer([
      [.receiveHead, .send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n"), .receiveToEnd],
      [.receiveHead, .receive(body.count), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")],
    ])
    try await withClient({ $0.maximumAttempts = 1 }) { client in
      let (bytes, response) = try await client.upload(for: Request(method: "POST", url: server.url()), from: body)
      #expect(response.status == 200 && bytes == Array("ok".utf8))
    }
  }

  @Test func `a large body waits for 100 Continue, but not as long as the idle timeout`() async throws {
    let body = [UInt8](repeating: 65, count: (1 << 20) + 1)
    let server = try ScriptedServer(
      .receiveHead, .receive(body.count), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
    try await withClient({ $0.maximumAttempts = 1 }) { client in
      var request = Request(method: "POST", url: try server.url())
      request.options.idleTimeout = .milliseconds(900)
      #expect(try await client.upload(for: request, from: body).response.status == 200)
    }
  }

  @Test func `an option sends a large body without waiting for 100 Continue`() async throws {
    let body = [UInt8](repeating: 65, count: (1 << 20) + 1)
    let server = try ScriptedServer([
      [.receiveHead, .receive(body.count), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]
    ])
    try await withClient { client in
      var request = Request(method: "POST", url: try server.url())
      request.options.expectsContinue = false
      #expect(try await client.upload(for: request, from: body).response.status == 200)
    }
    #expect(server.receivedText.first?.contains("Expect: ") == false)
  }

  @Test func `a path that is not a regular file is refused before anything is sent`() async throws {
    let server = try Self.echo()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    try await withClient { client in
      let request = try Self.post(server)
      for path in [folder.path, folder.path("missing"), "/dev/zero"] {
        let error = await failure { () throws(TransactionError) in
          _ = try await client.upload(for: request, fromFile: path)
        }
        #expect(error?.code == .bodyFile && error?.isBeforeSending == true && error?.message.contains(path) == true)
      }
      #expect(server.requestCount == 0)
    }
  }

  @Test(arguments: [0, 1, 2, 500]) func `a sequence is sent piece by piece, in order`(count: Int) async throws {
    let server = try Self.echo()
    defer { server.stop() }
    let pieces = (0..<count).map { [UInt8](repeating: UInt8($0 % 251), count: $0 * 37 % 9000) }
    try await withClient { client in
      let (bytes, _) = try await client.upload(for: Self.post(server), from: Pieces(pieces: pieces))
      #expect(bytes == Array(pieces.joined()))
      #expect(server.requests.first?.value(of: "transfer-encoding") == "chunked")
    }
  }

  @Test func `a sequence of a known size is sent with its length`() async throws {
    let server = try Self.echo()
    defer { server.stop() }
    try await withClient { client in
      let pieces = Pieces(pieces: [[1, 2], [], [3]])
      let (bytes, _) = try await client.upload(for: Self.post(server), from: pieces, byteCount: 3)
      #expect(bytes == [1, 2, 3] && server.requests.first?.value(of: "content-length") == "3")
    }
  }

  @Test func `pieces after the announced size are not sent`() async throws {
    let server = try Self.echo()
    defer { server.stop() }
    try await withClient { client in
      let pieces = Pieces(pieces: [[1, 2], [3], [4]])
      let (bytes, _) = try await client.upload(for: Self.post(server), from: pieces, byteCount: 2)
      #expect(bytes == [1, 2])
    }
  }

  @Test func `a piece that exceeds the announced size fails the upload`() async throws {
    let server = try Self.echo()
    defer { server.stop() }
    try await withClient { client in
      let request = try Self.post(server)
      let error = await failure { () throws(TransactionError) in
        _ = try await client.upload(for: request, from: Pieces(pieces: [[1], [2, 3]]), byteCount: 2)
      }
      #expect(error?.code == .bodyFile)
    }
  }

  @Test func `a sequence that is shorter than announced fails the upload`() async throws {
    let server = try Self.echo()
    defer { server.stop() }
    try await withClient { client in
      let request = try Self.post(server)
      let error = await failure { () throws(TransactionError) in
        _ = try await client.upload(for: request, from: Pieces(pieces: [[1, 2], [3]]), byteCount: 4)
      }
      #expect(error?.code == .bodyFile)
    }
  }

  @Test func `an error of the sequence fails the request, and the server does not receive a complete body`()
    async throws
  {
    struct Broken: Error {}
    let server = try Self.echo()
    defer { server.stop() }
    try await withClient { client in
      let request = try Self.post(server)
      let error = await failure { () throws(TransactionError) in
        _ = try await client.upload(for: request, from: Pieces(pieces: [[1]], error: Broken()))
      }
      #expect(error?.code == .bodyFile && error?.message.contains("Broken") == true)
      #expect(error?.underlying is Broken)
      #expect(server.requestCount == 0)
    }
  }

  @Test func `the task that reads the sequence ends when the call is cancelled`() async throws {
    let server = try ScriptedServer(.receiveHead, .receiveToEnd)
    defer { server.stop() }
    try await withClient { client in
      let request = Request(method: "POST", url: try server.url())
      let (isRead, ended) = (Signal(), Signal())
      let (pieces, continuation) = AsyncStream.makeStream(of: [UInt8].self)
      continuation.onTermination = { _ in ended.set() }
      continuation.yield([1, 2, 3])
      let watched = pieces.map { piece in
        isRead.set()
        return piece
      }
      let task = Task { try await client.upload(for: request, from: watched) }
      // Before the first read, no task reads the sequence.
      try await isRead.wait(for: "the first piece")
      task.cancel()
      await #expect(throws: TransactionError.self) { try await task.value }
      try await ended.wait(for: "the end of the sequence")
    }
  }

  @Test func `while the server reads nothing, the sequence is read only until the buffers are full`() async throws {
    let server = try ScriptedServer(.receiveHead, .wait(Signal()))
    defer { server.stop() }
    try await withClient { client in
      let request = Request(method: "POST", url: try server.url())
      let produced = Watched(0)
      let piece = [UInt8](repeating: 1, count: 100_000)
      let pieces = AsyncStream<[UInt8]> {
        produced.update { $0 += 1 }
        return piece
      }
      let task = Task { try await client.upload(for: request, from: pieces) }
      // The kernel's buffers hold some megabytes, and the client's buffer holds one.
      try await produced.wait(for: "the first pieces") { $0 > 10 }
      var last = -1
      while last != produced.value {
        last = produced.value
        for _ in 0..<1000 { await Task.yield() }
      }
      #expect(produced.value < 500)
      task.cancel()
      await #expect(throws: TransactionError.self) { try await task.value }
    }
  }
}
