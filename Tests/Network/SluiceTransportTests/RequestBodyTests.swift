import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestPipeline
import SluiceTestServers
import SluiceTransport
import Testing

/// Request bodies on the wire.
@Suite struct RequestBodyTests {
  @Test func `by default the size of a body in memory is limited, and that of a streamed body is not`() async throws {
    let count = TransportSettings.defaultHeldBytes + 1
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
    let url = try HTTPURL(server.baseURL)
    let held = try await Wire().send(
      Request(method: "POST", url: url, body: .bytes([UInt8](repeating: 0, count: count))))
    #expect(held.code == .requestTooLarge)
    #expect(held.error?.message.contains("has \(count) bytes, \(count - 1) are allowed") == true)
    let streamed = try await Wire().send(
      Request(
        method: "POST", url: url, body: .stream(BodyStream(byteCount: count) { [UInt8](repeating: 0, count: $0) })))
    #expect(streamed.code != .requestTooLarge)
    #expect(server.receivedText.first?.contains("Content-Length: \(count)\r\n") == true)
  }

  @Test func `a configured size limit applies to streamed bodies too`() async throws {
    var settings = TransportSettings.patient
    settings.maximumRequestBytes = 10
    let body = Body.stream(BodyStream(byteCount: 11) { _ in Array("eleven byte".utf8) })
    let record = try await Wire(settings).send(Request(method: "POST", url: HTTPURL("http://127.0.0.1:9/"), body: body))
    #expect(record.code == .requestTooLarge)
  }

  @Test func `bytes are sent with their length and without unwanted headers`() async throws {
    let server = try LoopbackServer()
    let body = [UInt8](repeating: 7, count: 1_000_000)
    let record = try await Wire().send(Request(method: "POST", url: HTTPURL(server.baseURL), body: .bytes(body)))
    #expect(record.error == nil)
    #expect(server.requests.first?.body == body)
    let headers = try #require(server.requests.first).headers
    #expect(headers.first("Content-Length") == "1000000")
    #expect(headers.first("Expect") == nil)
    #expect(headers.first("Content-Type") == nil)
  }

  @Test func `the caller's content type is sent`() async throws {
    let server = try LoopbackServer()
    let request = Request(
      method: "POST", url: try HTTPURL(server.baseURL), headers: ["content-type": "application/json"],
      body: .text("{}"))
    _ = try await Wire().send(request)
    #expect(server.requests.first?.headers.first("Content-Type") == "application/json")
  }

  @Test func `a POST without a body is sent with Content-Length 0`() async throws {
    let server = try LoopbackServer()
    _ = try await Wire().send(Request(method: "POST", url: HTTPURL(server.baseURL)))
    #expect(server.requests.first?.headers.first("Content-Length") == "0")
    #expect(server.requests.first?.headers.first("Content-Type") == nil)
  }

  @Test func `a GET can have a body`() async throws {
    let server = try LoopbackServer()
    _ = try await Wire().send(Request(method: "GET", url: HTTPURL(server.baseURL), body: .text("query")))
    #expect(server.requests.first?.method == "GET")
    #expect(server.requests.first?.body == Array("query".utf8))
  }

  @Test func `a file is read while it is sent, and closed`() async throws {
    let server = try LoopbackServer()
    let folder = try TemporaryDirectory()
    let text = String(repeating: "0123456789", count: 50_000)
    let path = try folder.write(text, to: "body")
    let wire = try Wire()
    let file = Body.file(FileBody(path: path, byteCount: text.utf8.count))
    let record = try await wire.send(Request(method: "PUT", url: HTTPURL(server.baseURL), body: file))
    #expect(record.error == nil)
    #expect(server.requests.first?.body == Array(text.utf8))
    #expect(record.timings.bytesSent > 500_000)
    #expect(!ProcessFacts.openFiles.contains(path))
  }

  @Test func `the error for a missing file names the file`() async throws {
    let file = Body.file(FileBody(path: "/nonexistent/body", byteCount: 3))
    let record = try await Wire().send(Request(method: "PUT", url: HTTPURL("http://127.0.0.1:1/"), body: file))
    #expect(record.code == .bodyFile)
    #expect(record.error?.message.contains("/nonexistent/body") == true)
    #expect(record.error?.isBeforeSending == true)
  }

  @Test func `if a file is shorter than announced, the transfer fails`() async throws {
    let server = try LoopbackServer()
    let folder = try TemporaryDirectory()
    let path = try folder.write("short", to: "body")
    let file = Body.file(FileBody(path: path, byteCount: 1000))
    let record = try await Wire().send(Request(method: "PUT", url: HTTPURL(server.baseURL), body: file))
    #expect(record.code == .bodyFile)
    #expect(record.error?.message.contains("5 of 1000") == true)
  }

  @Test(arguments: [nil, 30_000])
  func `a stream is sent in chunks, but with Content-Length if its length is announced`(_ length: Int?) async throws {
    let server = try LoopbackServer()
    // Every second read returns an empty piece: no data yet.
    let pieces = (0..<60).map { $0.isMultiple(of: 2) ? [UInt8](repeating: 65, count: 1000) : [] }
    let stream = PieceStream.make(pieces, announcing: length)
    let wire = try Wire()
    let probe = Probe()
    let slot = TransferSlot()
    stream.onWake { [loop = wire.loop] in loop.post { slot.transfer?.resumeSending() } }
    defer { stream.onWake(nil) }
    wire.start(Request(method: "POST", url: try HTTPURL(server.baseURL), body: .stream(stream)), probe) {
      slot.transfer = $0
    }
    let record = try await probe.waitForEnd()
    #expect(record.error == nil)
    #expect(server.requests.first?.body.count == 30_000)
    #expect(server.requests.first?.headers.first("Content-Length") == length.map(String.init))
  }

  @Test func `a file that is shorter than announced fails, and bytes beyond the announced length are ignored`()
    async throws
  {
    let folder = try TemporaryDirectory()
    let path = try folder.write("12345", to: "body")
    let wire = try Wire()
    let read = await wire.onLoop { [transport = wire.transport] in
      [3, 5, 1000].map { count -> Result<String, TransportError> in
        Result { () throws(TransportError) in
          let stream = try transport.stream(of: FileBody(path: path, byteCount: count))
          var text: [UInt8] = []
          do {
            while let piece = try stream.read(4) { text += piece }
          } catch { throw error as? TransportError ?? TransportError(.transport, "\(error)") }
          return String(decoding: text, as: UTF8.self)
        }
      }
    }
    #expect(try read[0].get() == "123")
    #expect(try read[1].get() == "12345")
    let error = #expect(throws: TransportError.self) { try read[2].get() }
    #expect(error?.code == .bodyFile && error?.message.contains("has 5 of its 1000 bytes") == true)
  }

  @Test func `if a stream throws, the transfer fails with the reason of the stream's error`() async throws {
    struct Broken: Error, CustomStringConvertible { let description = "the disk is on fire" }
    let server = try LoopbackServer()
    let stream = BodyStream { _ in throw Broken() }
    let record = try await Wire().send(Request(method: "POST", url: HTTPURL(server.baseURL), body: .stream(stream)))
    #expect(record.code == .bodyFile)
    #expect(record.error?.message.contains("the disk is on fire") == true)
  }
}
