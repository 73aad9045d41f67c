import SluiceJSON
import SluiceServer
import SluiceTestServers
import Testing

@Suite struct EchoHandlerTests {
  private let server: EmbeddedServer
  private let client: RawClient

  init() throws {
    server = try EmbeddedServer(handler: EchoHandler().respond)
    client = try RawClient(port: server.port)
  }

  @Test func `the response has the request as a document`() throws {
    let response = try client.request(
      "POST", "/v1/items?x=1",
      headers: ["Host: api.example.com", "Accept: text/html", "X-One: 1", "ACCEPT: application/json"], body: "hello")
    #expect(response.status == 200)
    #expect(response.headers.first("Content-Type") == "application/json")
    let expected: JSONValue = [
      "method": "POST", "url": "http://api.example.com/v1/items?x=1",
      "headers": [
        "host": "api.example.com", "accept": ["text/html", "application/json"], "x-one": "1", "content-length": "5",
      ],
      "body": ["text": "hello"],
    ]
    #expect(try JSONValue(parsing: response.body) == expected)
  }

  @Test func `the document in the response has the trailers of the request`() throws {
    try client.socket.write(
      Array(
        ("PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
          + "2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n").utf8))
    let document = try JSONValue(parsing: client.readResponse().body)
    #expect(document["body"] == ["text": "ok"] && document["trailers"] == ["x-sum": "1"])
  }

  @Test func `in the document of the response, a JSON body is parsed, and a body that is not text is in base64`() throws
  {
    let json = try client.request("PUT", "/", headers: ["Content-Type: application/json"], body: "{\"a\": [1]}")
    #expect(try JSONValue(parsing: json.body)["body"] == ["json": ["a": [1]]])
    try client.socket.write(Array("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n".utf8) + [0xFF, 0x00])
    #expect(try JSONValue(parsing: client.readResponse().body)["body"] == ["base64": "/wA="])
  }

  @Test func `in the document of the response, a header value that is not UTF-8 is in base64`() throws {
    try client.socket.write(Array("GET / HTTP/1.1\r\nHost: x\r\nName: ".utf8) + [0xF6] + Array("\r\n\r\n".utf8))
    let document = try JSONValue(parsing: client.readResponse().body)
    #expect(document["headers"]?["name"] == ["base64": "9g=="])
  }

  @Test func `an invalid target is shown unchanged`() throws {
    let response = try client.request("GET", "/a\\b{c}")
    #expect(try JSONValue(parsing: response.body)["url"] == "http://localhost/a\\b{c}")
  }

  @Test func `a requested status is answered without a body`() throws {
    let response = try client.request("GET", "/status/503")
    #expect(response.status == 503)
    #expect(response.body.isEmpty)
  }

  @Test func `the response with the document is sent after the requested delay`() throws {
    let begin = ContinuousClock.now
    let response = try client.request("GET", "/delay/20ms")
    #expect(ContinuousClock.now - begin >= .milliseconds(20))
    #expect(try JSONValue(parsing: response.body)["url"] == "http://localhost/delay/20ms")
  }

  @Test func `the response has the requested number of bytes`() throws {
    let response = try client.request("GET", "/bytes/100000")
    #expect(response.headers.first("Content-Length") == "100000")
    #expect(response.body == BytePattern.alphabet.bytes(from: 0, count: 100_000))
  }

  @Test func `headers in the query become response headers`() throws {
    let response = try client.request("GET", "/headers?x-a=1%2B1&X-B=two+words&x-a=3")
    #expect(response.headers.values(of: "x-a") == ["1+1", "3"])
    #expect(response.headers.first("X-B") == "two words")
  }

  @Test func `a requested redirect leads to the target in the query`() throws {
    let response = try client.request("GET", "/redirect-to?url=https%3A%2F%2Fa.example%2F%3Fb&status=307")
    #expect(response.status == 307)
    #expect(response.headers.first("Location") == "https://a.example/?b")
    #expect(try client.request("GET", "/redirect-to?url=/x").status == 302)
  }

  @Test(
    arguments: [
      ("/status/99", "a status from 200 to 599"), ("/status/x", "a status from 200 to 599"),
      ("/delay/5", "a duration up to 600s"), ("/delay/11m", "a duration up to 600s"),
      ("/bytes/-1", "a number of bytes"), ("/redirect-to", "?url="),
      ("/redirect-to?url=/&status=200", "a status from 300 to 399"), ("/redirect-to?url=/%0Ax", "without line breaks"),
      ("/headers?a=b%0D%0Ac:d", "a"),
    ])
  func `an invalid argument is refused, and the error says what was expected`(target: String, expected: String) throws {
    let response = try client.request("GET", target)
    #expect(response.status == 400)
    #expect(response.bodyText.contains(expected))
  }
}
