import SluiceTestKit

/// Messages that are damaged in a few places. The same seed always gives the same messages.
struct MutatedMessages {
  /// What messages are made of.
  struct Vocabulary {
    /// Valid messages.
    fileprivate let messages: [String]
    /// Lines that are inserted.
    fileprivate let lines: [String]
    /// Pieces of a line that are inserted.
    fileprivate let words: [[UInt8]]
  }

  private let vocabulary: Vocabulary
  private var random: SeededRandom

  init(_ vocabulary: Vocabulary, seed: UInt64) {
    self.vocabulary = vocabulary
    random = SeededRandom(seed: seed)
  }

  mutating func next() -> [UInt8] {
    var bytes = Array(vocabulary.messages[below(vocabulary.messages.count)].utf8)
    for _ in 0...below(4) { mutate(&bytes) }
    return bytes
  }

  private mutating func mutate(_ bytes: inout [UInt8]) {
    let place = below(bytes.count + 1)
    let end = place + below(min(8, bytes.count - place) + 1)
    switch below(8) {
    case 0: if place < bytes.count { bytes[place] ^= 1 << UInt8(below(8)) }
    case 1: bytes.removeSubrange(place..<end)
    case 2: bytes.replaceSubrange(place..<end, with: word())
    case 3: bytes.insert(contentsOf: word(), at: place)
    case 4: bytes.insert(contentsOf: word(), at: edge(in: bytes))
    case 5: bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
    case 6: insertLine(in: &bytes)
    default: bytes.removeLast(below(8) == 0 ? bytes.count - place : 0)
    }
  }

  /// Returns a position beside a delimiter, where damage is most likely to matter.
  private mutating func edge(in bytes: [UInt8]) -> Int {
    let edges = bytes.indices.filter { Self.delimiters.contains(bytes[$0]) }
    guard !edges.isEmpty else { return 0 }
    return edges[below(edges.count)] + below(2)
  }

  /// Inserts a line before another line.
  private mutating func insertLine(in bytes: inout [UInt8]) {
    let starts = bytes.indices.filter { bytes[$0] == 0x0A }
    guard !starts.isEmpty else { return }
    let line = vocabulary.lines[below(vocabulary.lines.count)] + (below(8) == 0 ? "\n" : "\r\n")
    bytes.insert(contentsOf: line.utf8, at: starts[below(starts.count)] + 1)
  }

  private mutating func word() -> [UInt8] { vocabulary.words[below(vocabulary.words.count)] }
  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  private static let delimiters = Set("\r\n\t :;,/.=".utf8)
}

extension MutatedMessages.Vocabulary {
  static let responses = Self(messages: responseMessages, lines: responseLines, words: responseWords)
  static let requests = Self(messages: requestMessages, lines: requestLines, words: requestWords)

  private static let responseWords: [[UInt8]] =
    [
      "\r", "\n", "\r\n", "\r\n\r\n", "\n\n", " ", "\t", "  ", "\0", "\u{1}", "\u{7F}", "é", ":", ";", ",", "0", "1",
      "9", "a", "f", "F", "HTTP/1.1 200 OK\r\n", "HTTP/1.0", "HTTP/2.0", "100", "101", "204", "304", "20", "0200",
      "chunked", "gzip", "close", "keep-alive", "\r\n ", "\r\n\t", "\n ", ", ", ",,", "0\r\n\r\n", "ffffffffffffffff",
      "00000000000000000", "18446744073709551615", "9223372036854775808", "\"", "(", "=", "x", "-", "+", ";a=\"b\"",
      "; a",
    ].map { Array($0.utf8) } + [[0x80], [0xFF], [0x0B], [0x0C]]

  private static let responseLines = [
    "Content-Length: 5", "Content-Length: 0", "content-length:5", "Content-Length: 5, 5", "Content-Length:",
    "Content-Length: x", "Transfer-Encoding: chunked", "transfer-encoding: gzip, chunked", "Transfer-Encoding: gzip",
    "Transfer-Encoding: identity", "Transfer-Encoding: , chunked", "Transfer-Encoding: chunked\t",
    "Transfer-Encodings: a", "Connection: close", "Connection: keep-alive", "Connection: x, close",
    "Connection: , close", "Connection: close\t", "Proxy-Connection: close", "Proxy-Connection: keep-alive",
    "Upgrade: h2c", "Connection: upgrade", "X-A: 1", "X-A: 1 ", " folded", "\tfolded", "X-Empty:", "X A: 1",
    "X-A : 1", "0", "5", "", "HTTP/1.1 100 Continue", "HTTP/1.1 200 OK",
  ]

  private static let responseMessages = [
    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nServer: a\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 11\r\nX-Empty:\r\n\r\nhello worldHTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n5;a=b\r\nhello\r\n6;c=\"d e\"\r\n world\r\n0\r\nX-Trailer: 1\r\n\r\nnext",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\nA\r\n0123456789\r\n00\r\n\r\n",
    "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi",
    "HTTP/1.0 200 OK\r\n\r\nuntil the end",
    "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nConnection: keep-alive, close\r\n\r\nuntil the end",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
    "HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\nnext",
    "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\nETag: \"a\"\r\n\r\nnext",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
    "HTTP/1.1 301\nLocation: /a\nX-Folded: a\n b\n\tc\nContent-Length: 2\n\nhi",
    "HTTP/1.1 404 Not Found\r\nX-Wide: \t d \r\nX-A:1\r\nX-A: 2\r\nContent-Length: 3, 3\r\nContent-Length: 3\r\n\r\nabc",
    "HTTP/1.1 500 \r\nTransfer-Encoding: chunked\r\nTrailer: X-A, X-B\r\n\r\n1\r\n.\r\n0\r\nX-A: 1\r\n 2\r\nX-B: 3\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\ncoded",
  ]

  private static let requestWords: [[UInt8]] =
    responseWords
    + [
      "GET / HTTP/1.1\r\n", "HTTP/1.1", "/", "//", "/../", "%2F", "%00", "http://", "https://a", "@", "?", "#", "\\",
      "*",
      "[::1]", "GET", "HEAD", "OPTIONS", "CONNECT", "host", "Host: b\r\n", "100-continue",
    ].map { Array($0.utf8) }

  private static let requestLines =
    responseLines + [
      "Host: a", "Host: b", "host:", "Host: u@a", "Expect: 100-continue", "Expect: x", "Upgrade: websocket",
      "TE: trailers",
      "Connection: Upgrade", "GET / HTTP/1.1", "POST http://a/b HTTP/1.0",
    ]

  private static let requestMessages = [
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /a/b?c=d HTTP/1.1\r\nHost: example.com:8080\r\nUser-Agent: x\r\nAccept: */*\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX-T: 1\r\n\r\nnext",
    "PUT /y HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
    "GET http://example.com/a HTTP/1.1\r\nHost: example.com\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\nraw",
    "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nraw",
    "\r\nHEAD / HTTP/1.1\r\nHost: a\r\nX-Empty:\r\nX-Wide: \t d \r\n\r\n",
  ]
}
