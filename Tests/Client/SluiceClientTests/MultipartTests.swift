import SluiceClient
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@Suite struct MultipartTests {
  /// The body that the server received, and the boundary that its `Content-Type` names.
  private static func send(
    _ form: MultipartForm, _ configure: (inout Configuration) -> Void = { _ in }
  ) async throws -> (body: [UInt8], boundary: String, request: ServerRequest) {
    let server = try LoopbackServer { _ in .text("ok") }
    defer { server.stop() }
    try await withClient(configure) { client in
      _ = try await client.upload(for: Request(method: "POST", url: server.url()), from: form)
    }
    let request = try #require(server.requests.first)
    let start = "multipart/form-data; boundary="
    let type = try #require(request.value(of: "content-type"))
    try #require(type.hasPrefix(start))
    #expect(request.value(of: "content-length") == "\(request.body.count)")
    return (request.body, String(type.dropFirst(start.count)), request)
  }

  @Test func `fields and files are parts in order`() async throws {
    let folder = try TemporaryDirectory()
    let content = pattern.bytes(from: 0, count: 700_000)
    let path = try folder.write(content, to: "data.bin")
    var form = MultipartForm()
    form.append(name: "title", value: "a ü")
    try await form.append(name: "file", fileAt: path, contentType: "text/x-data")
    try form.append(name: "note", bytes: [1, 2, 13, 10], filename: "n.txt")
    let (body, boundary, _) = try await Self.send(form)
    let start = """
      --\(boundary)\r\nContent-Disposition: form-data; name="title"\r\n\r\na ü\r\n\
      --\(boundary)\r\nContent-Disposition: form-data; name="file"; filename="data.bin"\r\n\
      Content-Type: text/x-data\r\n\r\n
      """
    let end = """
      \r\n--\(boundary)\r\nContent-Disposition: form-data; name="note"; filename="n.txt"\r\n\
      Content-Type: application/octet-stream\r\n\r\n\u{1}\u{2}\r\n\r\n--\(boundary)--\r\n
      """
    #expect(body == Array(start.utf8) + content + Array(end.utf8))
  }

  @Test func `an empty form is only the closing boundary, and each form has its own boundary`() async throws {
    let (body, boundary, _) = try await Self.send(MultipartForm())
    #expect(body == Array("--\(boundary)--\r\n".utf8))
    let (_, other, _) = try await Self.send(MultipartForm())
    #expect(boundary != other && boundary.utf8.count == 39)
  }

  @Test func `no character in a name can end the header that contains the name`() async throws {
    var form = MultipartForm()
    form.append(name: "a\"\r\nX: y", value: "v")
    try form.append(name: "f", bytes: [], filename: "\r\n\r\n\"\u{1F600}")
    let (body, boundary, _) = try await Self.send(form)
    #expect(
      String(decoding: body, as: UTF8.self) == """
        --\(boundary)\r\nContent-Disposition: form-data; name="a%22%0D%0AX: y"\r\n\r\nv\r\n\
        --\(boundary)\r\nContent-Disposition: form-data; name="f"; filename="%0D%0A%0D%0A%22\u{1F600}"\r\n\
        Content-Type: application/octet-stream\r\n\r\n\r\n--\(boundary)--\r\n
        """)
  }

  @Test func `a content type that is no valid header value is refused`() async throws {
    let folder = try TemporaryDirectory()
    let path = try folder.write([1], to: "f")
    var form = MultipartForm()
    #expect(throws: MessageError.self) {
      try form.append(name: "f", bytes: [], filename: "f", contentType: "text/plain\r\nX: y")
    }
    await #expect(throws: TransactionError.self) {
      try await form.append(name: "f", fileAt: path, contentType: "a\u{0}b")
    }
    let (body, boundary, _) = try await Self.send(form)
    #expect(body == Array("--\(boundary)--\r\n".utf8))
  }

  @Test func `a missing file is refused, and a file that shrinks fails the request`() async throws {
    let folder = try TemporaryDirectory()
    let path = try folder.write(pattern.bytes(from: 0, count: 1000), to: "f")
    var form = MultipartForm()
    await #expect(throws: TransactionError.self) { try await form.append(name: "f", fileAt: path + "x") }
    try await form.append(name: "f", fileAt: path)
    try folder.write([1], to: "f")
    let sent = form
    let server = try LoopbackServer { _ in .text("ok") }
    defer { server.stop() }
    try await withClient { client in
      let request = Request(method: "POST", url: try server.url())
      let error = await failure { () throws(TransactionError) in _ = try await client.upload(for: request, from: sent) }
      #expect(error?.code == .bodyFile && error?.message.contains(path) == true, "\(String(describing: error))")
    }
  }

  @Test func `a form without files can be sent again`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/"
        ? ServerResponse(status: 307, headers: [HeaderLine("Location", "/next")])
        : ServerResponse(body: .bytes(request.body))
    }
    defer { server.stop() }
    var form = MultipartForm()
    form.append(name: "a", value: "b")
    let sent = form
    try await withClient { client in
      let (bytes, response) = try await client.upload(for: Request(method: "POST", url: server.url()), from: sent)
      #expect(response.status == 200 && String(decoding: bytes, as: UTF8.self).contains("name=\"a\"\r\n\r\nb\r\n"))
    }
  }
}
