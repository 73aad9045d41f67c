import SluiceHTTP1
import SluiceMessages
import SluicePipeline
import Testing

@testable import SluiceTransport

/// What is said to a proxy until it has connected to the server.
@Suite struct TunnelDialogueTests {
  private static let name = TunnelTarget(host: "h.test", port: 443, address: nil)
  private static let ipv4 = TunnelTarget(host: "10.0.0.1", port: 80, address: [10, 0, 0, 1])
  private static let ipv6 = TunnelTarget(host: "::1", port: 80, address: [UInt8](repeating: 0, count: 15) + [1])

  private enum Outcome: Equatable {
    case more
    case sent([UInt8])
    case open(rest: Int)
    case refused(String)
  }

  /// Passes the bytes on one by one or at once, and returns the last outcome.
  private func feed(_ dialogue: inout some TunnelDialogue, _ bytes: [UInt8], atOnce: Bool) -> Outcome {
    var rest = bytes[...]
    var outcome = Outcome.more
    while !rest.isEmpty {
      let piece = Array(atOnce ? rest : rest.prefix(1))
      let (count, next) = dialogue.receive(piece.span)
      rest = rest.dropFirst(count)
      switch next {
      case .more: outcome = .more
      case .send(let bytes): outcome = .sent(bytes)
      case .open: return .open(rest: rest.count)
      case .refused(let refusal): return .refused(refusal.reason)
      }
    }
    return outcome
  }

  @Test(arguments: [false, true]) func `SOCKS 4 gets an address, and SOCKS 4a a name`(_ atOnce: Bool) throws {
    var four = try SOCKS4Dialogue(Self.ipv4, Proxy("socks4://me@p"))
    #expect(four.opening == [4, 1, 0, 80, 10, 0, 0, 1] + "me".utf8 + [0])
    #expect(feed(&four, [0, 90, 1, 2, 3, 4, 5, 6, 22], atOnce: atOnce) == .open(rest: 1))
    let named = try SOCKS4Dialogue(Self.name, Proxy("socks4a://p"))
    #expect(named.opening == [4, 1, 1, 187, 0, 0, 0, 1, 0] + "h.test".utf8 + [0])
    #expect(throws: ProxyFault.self) { try SOCKS4Dialogue(Self.ipv6, Proxy("socks4://p")) }
  }

  /// SOCKS 4a takes an address of this form for the announcement of a name.
  @Test func `an address that begins with three zeros is sent as a name`() throws {
    let target = TunnelTarget(host: "0.0.0.5", port: 80, address: [0, 0, 0, 5])
    #expect(
      try SOCKS4Dialogue(target, Proxy("socks4a://p")).opening == [4, 1, 0, 80, 0, 0, 0, 1, 0] + "0.0.0.5".utf8 + [0])
    #expect(throws: ProxyFault.self) { try SOCKS4Dialogue(target, Proxy("socks4://p")) }
    let none = TunnelTarget(host: "0.0.0.0", port: 80, address: [0, 0, 0, 0])
    #expect(try SOCKS4Dialogue(none, Proxy("socks4a://p")).opening == [4, 1, 0, 80, 0, 0, 0, 0, 0])
  }

  /// A line end in the user cannot be part of a field (RFC 9110 §5.5).
  @Test func `a challenge that cannot be answered is not taken`() {
    var random = RandomBits()
    let challenge = Challenge.challenges(
      in: ["Proxy-Authenticate": "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""], "proxy-authenticate")
    let bad = ProxyAuthorization(Credentials(user: Array("a\r\nb".utf8), password: []))
    #expect(!bad.take(challenge, answered: 0, &random))
    let good = ProxyAuthorization(Credentials(user: Array("a".utf8), password: []))
    #expect(good.take(challenge, answered: 0, &random) && good.value("GET", "/")?.hasPrefix("Digest ") == true)
  }

  @Test(arguments: [(91, "code 91"), (92, "ident"), (93, "another user"), (0, "code 0")] as [(UInt8, String)])
  func `a refusal of SOCKS 4 is explained`(_ code: UInt8, _ words: String) throws {
    var dialogue = try SOCKS4Dialogue(Self.ipv4, Proxy("socks4://p"))
    guard case .refused(let reason) = feed(&dialogue, [0, code, 0, 0, 0, 0, 0, 0], atOnce: true) else {
      Issue.record("not refused")
      return
    }
    #expect(reason.contains(words), "\(reason)")
  }

  @Test(arguments: [false, true]) func `SOCKS 5 without a password`(_ atOnce: Bool) throws {
    var dialogue = try SOCKS5Dialogue(Self.name, Proxy("socks5h://p"))
    #expect(dialogue.opening == [5, 1, 0])
    #expect(feed(&dialogue, [5, 0], atOnce: atOnce) == .sent([5, 1, 0, 3, 6] + "h.test".utf8 + [1, 187]))
    // The bound address is a name of two bytes; the bytes after the reply belong to the server.
    let reply: [UInt8] = [5, 0, 0, 3, 2, 97, 98, 0, 1, 22, 3]
    #expect(feed(&dialogue, reply, atOnce: atOnce) == .open(rest: 2))
  }

  @Test(arguments: [false, true]) func `SOCKS 5 with a password`(_ atOnce: Bool) throws {
    var dialogue = try SOCKS5Dialogue(Self.ipv6, Proxy("socks5://u:pw@p"))
    #expect(dialogue.opening == [5, 2, 0, 2])
    #expect(feed(&dialogue, [5, 2], atOnce: atOnce) == .sent([1, 1] + "u".utf8 + [2] + "pw".utf8))
    #expect(feed(&dialogue, [1, 0], atOnce: atOnce) == .sent([5, 1, 0, 4] + (Self.ipv6.address ?? []) + [0, 80]))
    #expect(feed(&dialogue, [5, 0, 0, 1, 1, 2, 3, 4, 0, 1], atOnce: atOnce) == .open(rest: 0))
  }

  @Test(
    arguments: [
      ([4, 0], "begins with 4"), ([72], "begins with 72"), ([5, 1], "method 1, which was not offered"),
      ([5, 0xFF], "demands a user"), ([5, 2], "demands a user"),
      ([5, 0, 4], "begins with 4"), ([5, 0, 5, 1], "general failure"), ([5, 0, 5, 2], "not allowed"),
      ([5, 0, 5, 3], "network unreachable"), ([5, 0, 5, 4], "host unreachable"), ([5, 0, 5, 5], "connection refused"),
      ([5, 0, 5, 6], "TTL expired"), ([5, 0, 5, 7], "command"), ([5, 0, 5, 8], "kind of address"),
      ([5, 0, 5, 99], "code 99"), ([5, 0, 5, 0, 0, 2, 1], "unknown kind of address, 2"),
    ] as [([UInt8], String)])
  func `a refusal of SOCKS 5 is explained`(_ bytes: [UInt8], _ words: String) throws {
    var dialogue = try SOCKS5Dialogue(Self.name, Proxy("socks5h://p"))
    guard case .refused(let reason) = feed(&dialogue, bytes, atOnce: false) else {
      Issue.record("not refused")
      return
    }
    #expect(reason.contains(words), "\(reason)")
  }

  private func connect(_ authorization: String? = nil) -> ConnectDialogue {
    ConnectDialogue(authority: "h.test:443", agent: "a/1", authorization: authorization, MessageLimits())
  }

  @Test(arguments: [false, true])
  func `the fields of the answer to CONNECT do not frame a body, and informational answers are skipped`(_ atOnce: Bool)
  {
    var dialogue = connect("Basic dTpw")
    let opening = "CONNECT h.test:443 HTTP/1.1\r\nHost: h.test:443\r\nUser-Agent: a/1\r\n"
    #expect(dialogue.opening == Array((opening + "Proxy-Authorization: Basic dTpw\r\n\r\n").utf8))
    let answer =
      "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    #expect(feed(&dialogue, Array((answer + "TLS").utf8), atOnce: atOnce) == .open(rest: 3))
  }

  @Test(arguments: [
    ("HTTP/1.1 403 No\r\nContent-Length: 5\r\n\r\nwhy?!", "status 403", "why?!"),
    (
      "HTTP/1.1 302 Found\r\nLocation: http://x/\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n",
      "status 302", "no"
    ),
    ("HTTP/1.1 407 P\r\nProxy-Authenticate: NTLM\r\nProxy-Authenticate: Negotiate\r\n\r\n", "NTLM or Negotiate", "407"),
    ("HTTP/1.1 101 S\r\n\r\n", "not valid HTTP", "101"), ("SSH-2.0-x\r\n", "begins with", "S"),
  ])
  func `any other answer to CONNECT is a refusal with its head and body`(
    _ answer: String, _ first: String, _ second: String
  ) {
    var dialogue = connect()
    guard case .refused(let reason) = feed(&dialogue, Array(answer.utf8), atOnce: false) else {
      Issue.record("not refused")
      return
    }
    #expect(reason.contains(first) && reason.contains(second), "\(reason)")
  }

  @Test func `the body of a refusal is read up to a limit, and is in the message if the proxy closes early`() {
    var long = connect()
    let body = String(repeating: "x", count: 5000)
    guard case .refused(let reason) = feed(&long, Array("HTTP/1.1 502 Bad\r\n\r\n\(body)".utf8), atOnce: true) else {
      Issue.record("not refused")
      return
    }
    #expect(reason.utf8.count < 1500)
    var cut = connect()
    #expect(feed(&cut, Array("HTTP/1.1 502 Bad\r\nContent-Length: 9\r\n\r\nshort".utf8), atOnce: true) == .more)
    #expect(cut.refusalAtEnd()?.reason.contains("short") == true)
    var headless = connect()
    #expect(feed(&headless, Array("HTTP/1.1 502".utf8), atOnce: true) == .more && headless.refusalAtEnd() == nil)
  }

  @Test(arguments: ["Basic dTpwYXNz", "dTpwYXNz", "dTpwYX", "dTpw"])
  func `credentials that a proxy repeats are hidden, also if its answer ends within them`(_ echo: String) {
    var dialogue = connect("Basic dTpwYXNz")
    let answer = "HTTP/1.1 403 No\r\nContent-Length: 99\r\n\r\nyou sent \(echo)"
    #expect(feed(&dialogue, Array(answer.utf8), atOnce: true) == .more)
    let reason = dialogue.refusalAtEnd()?.reason ?? ""
    #expect(reason.contains("you sent") && reason.contains("REDACTED") && !reason.contains("dTpw"), "\(reason)")
  }

  @Test func `a head without end is refused at the limit`() {
    var limits = MessageLimits()
    limits.headBytes = 100
    var dialogue = ConnectDialogue(authority: "h:1", agent: nil, authorization: nil, limits)
    let head = "HTTP/1.1 200 OK\r\nx: " + String(repeating: "y", count: 200)
    guard case .refused = feed(&dialogue, Array(head.utf8), atOnce: false) else {
      Issue.record("not refused")
      return
    }
  }

  @Test func `Basic is sent until the proxy asks for Digest, whose nonce is then used for each request`() throws {
    let authorization = ProxyAuthorization(Credentials(user: Array("u".utf8), password: Array("p".utf8)))
    var random = RandomBits()
    #expect(authorization.value("CONNECT", "h:1") == "Basic dTpw")
    let digest = try #require(Challenge.list(Array(#"Digest realm="r", nonce="n1", qop="auth""#.utf8)))
    #expect(authorization.take(digest, answered: 0, &random))
    #expect(authorization.value("CONNECT", "h:1")?.contains("nc=00000001") == true)
    // Another request was refused with the same challenge: its nonce is in use already.
    #expect(authorization.take(digest, answered: 0, &random))
    #expect(authorization.value("CONNECT", "h:2")?.contains("nc=00000002") == true)
    #expect(!authorization.take(digest, answered: 1, &random))
    let stale = try #require(Challenge.list(Array(#"Digest realm="r", nonce="n2", qop="auth", stale=true"#.utf8)))
    #expect(authorization.take(stale, answered: 1, &random))
    #expect(authorization.value("GET", "http://h/")?.contains(#"nonce="n2""#) == true)
    #expect(!authorization.take(stale, answered: 3, &random))
    let others = try #require(Challenge.list(Array("Negotiate".utf8)))
    #expect(!authorization.take(others, answered: 0, &random))
  }
}
