import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// What a proxy does to one request, and how the request must end.
struct HostileProxy: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let scheme: String
  /// One script for each connection that the request may make.
  let scripts: [[ScriptStep]]
  let code: ErrorCode
  /// A part of the error's message.
  let words: String
  var hasUser = false
  /// A small limit for a proxy that is silent or slow.
  var connectTimeout: Duration?
  /// Set if the proxy could send more than what the client must refuse and the buffers of the sockets can hold.
  var hasSentTooMuch = Signal()

  static let password = "s3cret"
  /// `me:s3cret` as Basic sends it.
  static let basic = "bWU6czNjcmV0"

  func url(port: UInt16) -> String { "\(scheme)://\(hasUser ? "me:\(Self.password)@" : "")127.0.0.1:\(port)" }

  /// The URL for the good script, which speaks no TLS.
  func goodURL(port: UInt16) -> String { scheme == "https" ? "http://127.0.0.1:\(port)" : url(port: port) }

  /// The script of a good proxy.
  func good(toPort port: UInt16) -> [ScriptStep] {
    switch scheme {
    case "socks5h":
      [
        .receive(hasUser ? 4 : 3), .send([5, 0]), .receive(7 + "localhost".utf8.count), .send([5, 0] + Self.bound),
        .tunnel(toPort: port),
      ]
    case "socks4a":
      [.receive(9 + "localhost".utf8.count + 1), .send([0, 90, 0, 0, 0, 0, 0, 0]), .tunnel(toPort: port)]
    default: [.receiveHead, .send("HTTP/1.1 200 OK\r\n\r\n"), .tunnel(toPort: port)]
    }
  }

  /// The rest of a reply of SOCKS 5: the address to which the proxy is bound.
  private static let bound: [UInt8] = [0, 1, 127, 0, 0, 1, 0, 80]
  private static let fake = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake"
  private static let lost = "it closed the connection before it connected to the server"

  /// An HTTP proxy that gets the request for a tunnel, and then does this.
  private static func http(
    _ name: String, _ words: String, code: ErrorCode = .proxy, within limit: Duration? = nil, _ steps: ScriptStep...
  ) -> HostileProxy {
    HostileProxy(
      testDescription: "HTTP: \(name)", scheme: "http", scripts: [[.receiveHead] + steps], code: code, words: words,
      connectTimeout: limit)
  }

  private static func http(
    _ name: String, _ words: String, code: ErrorCode = .proxy, _ answer: String
  ) -> HostileProxy {
    http(name, words, code: code, .send(answer), .receiveToEnd)
  }

  /// A SOCKS proxy that sends these answers one after the other, each after some bytes of the client.
  private static func socks(
    _ scheme: String, _ name: String, _ words: String, code: ErrorCode = .proxy, hasUser: Bool = false,
    _ answers: [UInt8]..., then last: ScriptStep = .close
  ) -> HostileProxy {
    // The last answer may contain any junk, so the client must have sent all that it can send before.
    let lengths = scheme == "socks4a" ? [19] : hasUser ? [4, 5 + password.utf8.count] : [3, 16]
    let steps = zip(lengths, answers).flatMap { [.receive($0), .send($1)] as [ScriptStep] }
    let script = answers.isEmpty ? [.receive(lengths[0])] : steps
    return HostileProxy(
      testDescription: "\(scheme): \(name)", scheme: scheme, scripts: [script + [last]], code: code, words: words,
      hasUser: hasUser)
  }

  private static func challenge(_ nonce: Int, isStale: Bool) -> ScriptStep {
    let stale = isStale ? ", stale=true" : ""
    return .send(
      "HTTP/1.1 407 P\r\nProxy-Authenticate: Digest realm=\"r\", nonce=\"n\(nonce)\", qop=\"auth\"\(stale)\r\n\r\n")
  }

  /// A head that never ends. The limit for it is 256 KiB, and the buffers of two sockets hold some megabytes.
  private static func flood(_ name: String, _ words: String, _ start: String, _ pattern: String) -> HostileProxy {
    let hasSentTooMuch = Signal()
    let pattern = BytePattern(Array(pattern.utf8))
    var proxy = http(
      name, words, .send(start), .sendPattern(pattern, byteCount: 32 << 20), .signal(hasSentTooMuch),
      .sendPattern(pattern, byteCount: 400 << 20))
    proxy.hasSentTooMuch = hasSentTooMuch
    return proxy
  }

  private static let short = Duration.milliseconds(300)
  /// Which step has not ended depends on the speed of the machine.
  private static let late = "within 0.3 seconds"

  static let all = ends + answers + echoes + floods + silences + socks5 + socks4 + secure

  private static let ends = [
    http("closes", lost, .close), http("resets", lost, .reset),
    http("closes in the head", lost, .send("HTTP/1.1 200 OK\r\nX-A: "), .close),
    http("closes before the empty line", lost, .send("HTTP/1.1 200 OK\r\n"), .close),
    http("resets in the head", lost, .send("HTTP/1.1 200"), .reset),
    http(
      "closes in the body of a refusal", "status 503", .send("HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\nno"),
      .close),
    HostileProxy(
      testDescription: "HTTP: closes before it has read", scheme: "http", scripts: [[.close]], code: .proxy, words: lost
    ),
  ]

  private static let answers = [
    http("a response after the 200", "through the proxy", code: .tls, "HTTP/1.1 200 OK\r\n\r\n\(fake)"),
    http("junk after the 200", "through the proxy", code: .tls, "HTTP/1.1 200 OK\r\n\r\n\0\0\0\0\0\0\0\0"),
    http(
      "a body with a length after the 200", "through the proxy", code: .tls,
      "HTTP/1.1 200 OK\r\nContent-Length: \(fake.utf8.count)\r\n\r\n\(fake)"),
    http(
      "a chunked body after the 200", "through the proxy", code: .tls,
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfake\r\n0\r\n\r\n"),
    http(
      "a response in the body of a refusal", "status 502",
      "HTTP/1.1 502 Bad\r\nContent-Length: \(fake.utf8.count)\r\n\r\n\(fake)"),
    http(
      "a response after the body of a refusal", "status 502", "HTTP/1.1 502 Bad\r\nContent-Length: 1\r\n\r\nx\(fake)"),
    http("a redirect", "status 302", "HTTP/1.1 302 F\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"),
    http("an upgrade", "an upgrade that was not requested", "HTTP/1.1 101 S\r\nUpgrade: h2c\r\n\r\n"),
    http("another protocol", "begins with", "SSH-2.0-OpenSSH_9\r\n"),
    http("another version", "begins with", "HTTP/2 200 OK\r\n\r\n"),
    http("CR, LF and NUL", "begins with", "\r\n\0\r\n\0\r\n\r\n"),
    http("NUL in a field", "in its answer to CONNECT", "HTTP/1.1 200 OK\r\nX-A: a\0b\r\n\r\n"),
    http("CR in a field", "in its answer to CONNECT", "HTTP/1.1 200 OK\r\nX-A: a\rb\r\n\r\n"),
    http("a blank before a colon", "in its answer to CONNECT", "HTTP/1.1 200 OK\r\nX-A : a\r\n\r\n"),
    http("a status without end", "in its answer to CONNECT", "HTTP/1.1 2000 OK\r\n\r\n"),
    HostileProxy(
      testDescription: "HTTP: asks for a new answer again and again", scheme: "http",
      scripts: (0..<4).map { [.receiveHead, challenge($0, isStale: true)] }, code: .proxy, words: "status 407",
      hasUser: true),
  ]

  /// What a proxy knows, or repeats, must not be in a message.
  private static let echoes = [
    HostileProxy(
      testDescription: "HTTP: repeats what it was told", scheme: "http",
      scripts: [
        [
          .receiveHead,
          .send(
            "HTTP/1.1 403 No\r\nSet-Cookie: sid=\(password)\r\nX-API-Key: \(password)\r\nX-Debug: \(basic)\r\n"
              + "Content-Length: \(basic.utf8.count)\r\n\r\n\(basic)"),
          .receiveToEnd,
        ]
      ], code: .proxy, words: "Set-Cookie: REDACTED", hasUser: true)
  ]

  private static let floods = [
    flood("a head of hundreds of megabytes", "more than 262144 bytes", "HTTP/1.1 200 OK\r\n", "X-A: \(bulk)\r\n"),
    flood("a line without end", "more than 262144 bytes", "HTTP/1.1 200 OK\r\nX-A: ", bulk),
    flood("a status line without end", "more than 262144 bytes", "HTTP/1.1 200 ", bulk),
    flood("a million fields", "more than 4096 fields", "HTTP/1.1 200 OK\r\n", "A:b\r\n"),
    flood("informational answers without end", "more than 100 informational", "", "HTTP/1.1 103 E\r\nA: b\r\n\r\n"),
    flood("a refusal without end", "status 403", "HTTP/1.1 403 No\r\n\r\n", bulk),
    flood(
      "chunks without end", "status 403", "HTTP/1.1 403 No\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"),
    flood(
      "a chunk's extension without end", "in its answer to CONNECT",
      "HTTP/1.1 403 No\r\nTransfer-Encoding: chunked\r\n\r\n1;", bulk),
    HostileProxy(
      testDescription: "HTTP: a demand for a password with a body without end", scheme: "http",
      scripts: (0..<2).map {
        [
          .receiveHead, challenge($0, isStale: false),
          .sendPattern(BytePattern(Array(bulk.utf8)), byteCount: 400 << 20),
        ]
      }, code: .proxy, words: "status 407", hasUser: true),
  ]

  private static let bulk = String(repeating: "b", count: 1000)

  private static let silences = [
    http("silent", late, code: .connectTimeout, within: short, .receiveToEnd),
    http(
      "a head drop by drop", late, code: .connectTimeout, within: short,
      .send("HTTP/1.1 200 OK\r\n"), .drip(Array("X-A: b\r\n".utf8))),
    http(
      "a refusal whose text never comes", "status 403", .send("HTTP/1.1 403 No\r\nContent-Length: 9\r\n\r\n"),
      .receiveToEnd),
    http(
      "a refusal drop by drop", "status 503", within: .seconds(3), .send("HTTP/1.1 503 No\r\n\r\n"),
      .drip(Array("no".utf8))),
    HostileProxy(
      testDescription: "SOCKS 5: silent", scheme: "socks5h", scripts: [[.receive(3), .receiveToEnd]],
      code: .connectTimeout, words: late, connectTimeout: short),
    HostileProxy(
      testDescription: "SOCKS 4: silent", scheme: "socks4a", scripts: [[.receive(19), .receiveToEnd]],
      code: .connectTimeout, words: late, connectTimeout: short),
    HostileProxy(
      testDescription: "HTTPS: silent", scheme: "https", scripts: [[.receiveToEnd]],
      code: .connectTimeout, words: late, connectTimeout: short),
  ]

  private static let socks5 = [
    socks("socks5h", "closes", lost), socks("socks5h", "closes in the choice of a method", lost, [5]),
    socks("socks5h", "resets", lost, [5, 0], then: .reset),
    socks("socks5h", "closes before the reply", lost, [5, 0]),
    socks("socks5h", "closes in the reply", lost, [5, 0], [5, 0, 0]),
    socks("socks5h", "closes in the address", lost, [5, 0], [5, 0, 0, 1, 127, 0]),
    socks("socks5h", "closes in a name", lost, [5, 0], [5, 0, 0, 3, 255, 97]),
    socks("socks5h", "chooses a method that was not offered", "method 1, which was not offered", [5, 1]),
    socks("socks5h", "demands a password that nobody has", "demands a user and a password", [5, 2]),
    socks("socks5h", "refuses the password", "refused the user or the password", hasUser: true, [5, 2], [1, 1]),
    socks("socks5h", "closes after the password", lost, hasUser: true, [5, 2]),
    socks("socks5h", "speaks HTTP", "begins with 72", Array("HTTP/1.1 400 Bad\r\n\r\n".utf8)),
    socks("socks5h", "a reply of another version", "begins with 4", [5, 0], [4, 0] + bound),
    socks("socks5h", "an unknown kind of address", "kind of address, 9", [5, 0], [5, 0, 0, 9, 0, 0, 0]),
    socks(
      "socks5h", "a response after the reply", "through the proxy", code: .tls, [5, 0],
      [5, 0] + bound + Array(fake.utf8), then: .receiveToEnd),
  ]

  private static let socks4 = [
    socks("socks4a", "closes", lost), socks("socks4a", "closes after a byte", lost, [0]),
    socks("socks4a", "closes in the reply", lost, [0, 90, 0, 0, 0, 0, 0]),
    socks("socks4a", "refuses", "code 91", [0, 91, 0, 0, 0, 0, 0, 0]),
    socks("socks4a", "speaks SOCKS 5", "begins with 5", [5, 0]),
    socks(
      "socks4a", "a response after the reply", "through the proxy", code: .tls,
      [0, 90, 0, 0, 0, 0, 0, 0] + Array(fake.utf8), then: .receiveToEnd),
  ]

  private static let secure = [
    HostileProxy(
      testDescription: "HTTPS: answers in clear text", scheme: "https", scripts: [[.send(fake), .receiveToEnd]],
      code: .proxy, words: "no TLS connection to the proxy"),
    HostileProxy(
      testDescription: "HTTPS: closes", scheme: "https", scripts: [[.close]], code: .proxy,
      words: "no TLS connection to the proxy"),
  ]
}
