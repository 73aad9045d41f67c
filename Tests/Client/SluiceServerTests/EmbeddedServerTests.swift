import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@Suite struct EmbeddedServerTests {
  @Test func `a request arrives with its header lines in wire order and original spelling`() throws {
    let server = try LoopbackServer()
    let client = try RawClient(port: server.port)
    try client.send("PATCH /a%2Fb/?q=1&q=%20 HTTP/1.1\r\nhOsT: x\r\nX-B: 2\r\nx-a: 1\r\nX-B: 3\r\n\r\n")
    #expect(try client.readResponse().status == 200)

    let request = try #require(server.requests.first)
    #expect(request.method == "PATCH")
    #expect(request.target == "/a%2Fb/?q=1&q=%20")
    #expect(request.path == "/a%2Fb/")
    #expect(request.query == "q=1&q=%20")
    #expect(request.version == "HTTP/1.1")
    let expected = [("hOsT", "x"), ("X-B", "2"), ("x-a", "1"), ("X-B", "3")].map { HeaderLine($0.0, $0.1) }
    #expect(request.headers == expected)
    #expect(request.peer.hasPrefix("127.0.0.1:"))
  }

  @Test func `header values that are not UTF-8 keep their bytes`() throws {
    let server = try LoopbackServer()
    let client = try RawClient(port: server.port)
    try client.socket.write(Array("GET / HTTP/1.1\r\nHost: x\r\nName: J".utf8) + [0xF6] + Array("rg\r\n\r\n".utf8))
    _ = try client.readResponse()
    #expect(server.requests.first?.headers.last?.valueBytes == [0x4A, 0xF6, 0x72, 0x67])
  }

  @Test func `bodies with a length, and bodies in chunks with trailers, arrive completely`() throws {
    let server = try LoopbackServer()
    let client = try RawClient(port: server.port)
    let long = String(repeating: "0123456789", count: 20_000)
    #expect(try client.request("POST", "/", body: long).status == 200)
    try client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    try client.send("3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nChecksum: 7\r\n\r\n")
    #expect(try client.readResponse().status == 200)
    #expect(server.requests.map(\.body) == [Array(long.utf8), Array("abcde".utf8)])
    #expect(server.requests.dropFirst().first?.trailers == [HeaderLine("Checksum", "7")])
  }

  @Test(arguments: ["Content-Length: 11\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n0\r\n\r\n"])
  func `a body over the limit is answered with 413 and not passed to the handler`(rest: String) throws {
    var options = ServerOptions()
    options.maximumBodyBytes = 10
    let server = try LoopbackServer(options: options)
    let client = try RawClient(port: server.port)
    try client.send("POST / HTTP/1.1\r\nHost: x\r\n" + rest)
    #expect(try client.readResponse().status == 413)
    #expect(server.requestCount == 0)
  }

  @Test func `a response carries status, repeated headers, body and trailers`() throws {
    let body = ServerResponse.Body.generated(.alphabet, byteCount: 3, chunked: true)
    let cookies = [HeaderLine("Set-Cookie", "a=1"), HeaderLine("Set-Cookie", "b=2")]
    let server = try LoopbackServer { _ in
      ServerResponse(status: 418, headers: cookies, body: body, trailers: [HeaderLine("Checksum", "7")])
    }
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    let (status, head) = try client.readHead()
    #expect(status == 418)
    #expect(head.headers.values(of: "set-cookie") == ["a=1", "b=2"])
    let rest = String(decoding: try client.readToEnd(), as: UTF8.self)
    #expect(rest == "3\r\nabc\r\n0\r\nChecksum: 7\r\n\r\n")
  }

  @Test func `one connection serves several requests, one after another`() throws {
    let server = try LoopbackServer { .text($0.target) }
    let client = try RawClient(port: server.port)
    for number in 0..<50 { #expect(try client.request("GET", "/\(number)").bodyText == "/\(number)") }
    #expect(try client.request("HEAD", "/").head.headers.first("Content-Length") == "1")
    #expect(try client.request("GET", "/end").bodyText == "/end")
  }

  @Test func `if a response cannot be sent, the client gets a 500 with the reason`() throws {
    let server = try LoopbackServer { request in
      request.path == "/header"
        ? ServerResponse(headers: [HeaderLine("X", "a\r\nInjected: b")]) : ServerResponse(status: 99)
    }
    let client = try RawClient(port: server.port)
    for path in ["/header", "/status"] {
      let response = try client.request("GET", path)
      #expect(response.status == 500)
      #expect(response.bodyText.contains("invalid status or header"))
    }
  }

  @Test func `a field can be empty or contain a tab, and blanks around its value do not belong to it`() throws {
    let server = try LoopbackServer { _ in
      ServerResponse(headers: [HeaderLine("X-Empty", ""), HeaderLine("X-Tab", "a\tb c")])
    }
    let client = try RawClient(port: server.port)
    let response = try client.request("GET", "/", headers: ["X: \t a b \t ", "Y:  \t", "Z:"])
    #expect(response.status == 200)
    #expect(response.headers.first("X-Empty") == "" && response.headers.first("X-Tab") == "a\tb c")
    #expect(server.requests.first?.headers.dropFirst().map(\.value) == ["a b", "", ""])
  }

  @Test func `the response to HEAD has no body, even if the body would be sent in chunks`() throws {
    let server = try LoopbackServer { _ in
      ServerResponse(body: .generated(.alphabet, byteCount: 3, chunked: true))
    }
    let client = try RawClient(port: server.port)
    try client.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
    let (status, head) = try client.readHead()
    #expect(
      status == 200 && head.headers.first("Transfer-Encoding") == nil && head.headers.first("Content-Length") == nil)
    #expect(try client.readToEnd().isEmpty)
    #expect(try RawClient(port: server.port).request().bodyText == "abc")
  }

  /// The memory of a connection is 32 KiB.
  @Test(arguments: [0, 2000, 14_000, 25_000])
  func `a response whose head is too large becomes a 500 with the reason`(_ requestBytes: Int) throws {
    let server = try LoopbackServer { request in
      ServerResponse(headers: [HeaderLine("X", String(repeating: "a", count: Int(request.path.dropFirst()) ?? 0))])
    }
    let long = ["Y: " + String(repeating: "b", count: requestBytes)]
    var statuses: [Int] = []
    for bytes in stride(from: 0, through: 40_000, by: 500) {
      let response = try RawClient(port: server.port).request("GET", "/\(bytes)", headers: long)
      statuses.append(response.status)
      if response.status == 500 { #expect(response.bodyText.contains("too large"), "\(bytes)") }
    }
    #expect(statuses.first == 200 && statuses.last == 500 && statuses == statuses.sorted(), "\(statuses)")
  }

  @Test func `a handler can close the connection without sending a byte`() throws {
    let server = try LoopbackServer { _ in .hangUp }
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try client.readToEnd().isEmpty)
  }

  @Test func `the server listens on IPv6 and puts the address in brackets`() throws {
    let server = try EmbeddedServer(on: .tcp(host: "::1")) { .text($0.peer) }
    let response = try RawClient(host: "::1", port: server.port).request()
    #expect(server.baseURL == "http://[::1]:\(server.port)")
    #expect(response.bodyText.hasPrefix("[::1]:"))
  }

  @Test func `the error for a port in use names the port`() throws {
    let first = try EmbeddedServer { _ in .text("") }
    let error = #expect(throws: ServerError.self) {
      try EmbeddedServer(on: .tcp(port: first.port)) { _ in .text("") }
    }
    #expect(error?.code == .addressInUse)
    #expect(error?.description.hasPrefix("cannot listen on 127.0.0.1:\(first.port): ") == true)
  }

  @Test(arguments: ["300.1.1.1", "203.0.113.1"])
  func `the error for an address of no local interface names the address`(host: String) {
    let error = #expect(throws: ServerError.self) { try EmbeddedServer(on: .tcp(host: host)) { _ in .text("") } }
    #expect(error?.code == .addressUnknown)
    #expect(error?.subject == "\(host):0")
  }

  @Test func `stop frees the port and can be called twice`() throws {
    let first = try EmbeddedServer { _ in .text("") }
    first.stop()
    first.stop()
    #expect(throws: TestKitError.self) { try RawClient(port: first.port) }
    let second = try EmbeddedServer(on: .tcp(port: first.port)) { _ in .text("again") }
    #expect(try RawClient(port: second.port).request().bodyText == "again")
  }
}
