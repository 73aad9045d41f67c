/// An example for one ``DifferenceRule``: a response, and what both parsers read from it.
struct DifferenceExample: Sendable {
  /// What http-parser does.
  let rule: String
  let response: String
  var isAnswerToHead = false
  let ours: String
  let httpParser: String
}

extension DifferenceExample {
  static let all = [
    DifferenceExample(
      rule: "skips empty lines before a response",
      response: "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
      ours:
        #"refused: the answer begins with "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" and not with "HTTP/1.""#,
      httpParser: #"200 [Content-Length: 2], "hi", ends at 42, stays open"#),
    DifferenceExample(
      rule: "checks only the H of HTTP",
      response: "HELP!1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
      ours: #"refused: the answer begins with "HELP!1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi" and not with "HTTP/1.""#,
      httpParser: #"200 [Content-Length: 2], "hi", ends at 40, stays open"#),
    DifferenceExample(
      rule: "accepts every major version",
      response: "HTTP/2.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
      ours: #"refused: the answer begins with "HTTP/2.1 200 OK\r\nContent-Length: 2\r\n\r\nhi" and not with "HTTP/1.""#,
      httpParser: #"200 [Content-Length: 2], "hi", ends at 40, stays open"#),
    DifferenceExample(
      rule: "skips spaces before the status",
      response: "HTTP/1.1  200 OK\r\nContent-Length: 2\r\n\r\nhi",
      ours:
        #"refused: a status line that is not "HTTP/1.1", a status of three digits and a reason: "HTTP/1.1  200 OK""#,
      httpParser: #"200 [Content-Length: 2], "hi", ends at 41, stays open"#),
    DifferenceExample(
      rule: "accepts a status without three digits, or with zeros before it",
      response: "HTTP/1.1 0200 OK\r\nContent-Length: 2\r\n\r\nhi",
      ours:
        #"refused: a status line that is not "HTTP/1.1", a status of three digits and a reason: "HTTP/1.1 0200 OK""#,
      httpParser: #"200 [Content-Length: 2], "hi", ends at 41, stays open"#),
    DifferenceExample(
      rule: "accepts a NUL in a reason",
      response: "HTTP/1.1 200 O\0K\r\nContent-Length: 2\r\n\r\nhi",
      ours: "refused: a line with a NUL",
      httpParser: #"200 [Content-Length: 2], "hi", ends at 41, stays open"#),
    DifferenceExample(
      rule: "accepts a NUL as the first byte of a value",
      response: "HTTP/1.1 200 OK\r\nX-A: \0\r\nContent-Length: 2\r\n\r\nhi",
      ours: "refused: the field X-A with a NUL in its value",
      httpParser: "200 [X-A: \0] [Content-Length: 2], \"hi\", ends at 48, stays open"),
    DifferenceExample(
      rule: "takes any byte after a CR as the LF",
      response: "HTTP/1.1 200 OK\rXX-A: 1\r\nContent-Length: 2\r\n\r\nhi",
      ours: "refused: a line with a CR that does not end it",
      httpParser: #"200 [X-A: 1] [Content-Length: 2], "hi", ends at 48, stays open"#),
    DifferenceExample(
      rule: "accepts spaces in a name and before the colon",
      response: "HTTP/1.1 200 OK\r\nX A : 1\r\nContent-Length: 2\r\n\r\nhi",
      ours: #"refused: a line in the head without a valid name before a colon: "X A : 1""#,
      httpParser: #"200 [X A : 1] [Content-Length: 2], "hi", ends at 49, stays open"#),
    DifferenceExample(
      rule: "takes a space before the first field as a part of its name",
      response: "HTTP/1.1 200 OK\r\n X-A: 1\r\nContent-Length: 2\r\n\r\nhi",
      ours: "refused: a first line of the head that begins with a space",
      httpParser: #"200 [ X-A: 1] [Content-Length: 2], "hi", ends at 49, stays open"#),
    DifferenceExample(
      rule: "reads a folded field that decides about the message",
      response: "HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nhi",
      ours: "refused: a folded Content-Length field, of which some readers see only the first line",
      httpParser: #"200 [Content-Length: 2], "hi", ends at 42, stays open"#),
    DifferenceExample(
      rule: "accepts chunked twice, or before another coding",
      response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\nhi",
      ours: #"refused: a Transfer-Encoding with "gzip" after chunked, so nothing says where the body ends"#,
      httpParser: #"200 [Transfer-Encoding: chunked, gzip], "hi", ends with the connection"#),
    DifferenceExample(
      rule: "accepts a length beyond 63 bits",
      response: "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\nhi",
      ours: #"refused: a Content-Length that is not a number of bytes: "9223372036854775808""#,
      httpParser: #"200 [Content-Length: 9223372036854775808], "hi", unfinished"#),
    DifferenceExample(
      rule: "accepts an upgrade that nobody requested",
      response: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n",
      ours: "refused: an upgrade that was not requested (101)",
      httpParser: "101 [Upgrade: a] [Connection: upgrade], ends at 69, stays open"),
    DifferenceExample(
      rule: "skips everything from a space or semicolon after a chunk size up to the CR",
      response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;\n\r\nhi\r\n0\r\n\r\n",
      ours: "refused: the size of a chunk without CRLF after it",
      httpParser: #"200 [Transfer-Encoding: chunked], "hi", ends at 61, stays open"#),
    DifferenceExample(
      rule: "takes any two bytes after the data of a chunk as CRLF",
      response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi..0\r\n\r\n",
      ours: "refused: a chunk with more data than its size",
      httpParser: #"200 [Transfer-Encoding: chunked], "hi", ends at 59, stays open"#),
    DifferenceExample(
      rule: "reads a byte above 0x7F in the size of a chunk as the digit 0",
      response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\né\r\n\r\n",
      ours: "refused: a chunk without a size",
      httpParser: #"200 [Transfer-Encoding: chunked], "hi", ends at 60, stays open"#),
    DifferenceExample(
      rule: "accepts a chunk size of more than 15 digits",
      response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0000000000000002\r\nhi\r\n0\r\n\r\n",
      ours: "refused: the size of a chunk has more than 15 digits",
      httpParser: #"200 [Transfer-Encoding: chunked], "hi", ends at 74, stays open"#),
    DifferenceExample(
      rule: "refuses control characters in a value",
      response: "HTTP/1.1 200 OK\r\nX-A: 1\u{7F}\r\nContent-Length: 2\r\n\r\nhi",
      ours: "200 [X-A: 1\u{7F}] [Content-Length: 2], \"hi\", ends at 49, stays open",
      httpParser: "refused: HPE_INVALID_HEADER_TOKEN"),
    DifferenceExample(
      rule: "refuses a length that is repeated",
      response: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
      ours: #"200 [Content-Length: 2] [Content-Length: 2], "hi", ends at 59, stays open"#,
      httpParser: "refused: HPE_UNEXPECTED_CONTENT_LENGTH"),
    DifferenceExample(
      rule: "refuses the coding identity beside a length",
      response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi",
      ours: #"200 [Transfer-Encoding: identity] [Content-Length: 2], "hi", ends at 69, closes"#,
      httpParser: "refused: HPE_UNEXPECTED_CONTENT_LENGTH"),
    DifferenceExample(
      rule: "refuses a tab after a length",
      response: "HTTP/1.1 200 OK\r\nContent-Length: 2\t\r\n\r\nhi",
      ours: #"200 [Content-Length: 2], "hi", ends at 41, stays open"#,
      httpParser: "refused: HPE_INVALID_CONTENT_LENGTH"),
    DifferenceExample(
      rule: "checks the length of a response that has no body",
      response: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n", isAnswerToHead: true,
      ours: "200 [Content-Length: 2] [Content-Length: 3], ends at 57, stays open",
      httpParser: "refused: HPE_UNEXPECTED_CONTENT_LENGTH"),
    DifferenceExample(
      rule: "checks a length in trailers",
      response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: x\r\n\r\n",
      ours: "200 [Transfer-Encoding: chunked], trailer [Content-Length: x], ends at 71, stays open",
      httpParser: "refused: HPE_INVALID_CONTENT_LENGTH"),
    DifferenceExample(
      rule: "refuses a tab after the size of a chunk",
      response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\t\r\nhi\r\n0\r\n\r\n",
      ours: #"200 [Transfer-Encoding: chunked], "hi", ends at 60, stays open"#,
      httpParser: "refused: HPE_INVALID_CHUNK_SIZE"),
    DifferenceExample(
      rule: "refuses an invalid byte before the rest of its line arrives",
      response: "HTTP/1.1 200 OK\r\nX(",
      ours: "unfinished",
      httpParser: "refused: HPE_INVALID_HEADER_TOKEN"),
    DifferenceExample(
      rule: "keeps the spaces after a value",
      response: "HTTP/1.1 200 OK\r\nX-A: 1 \r\nContent-Length: 2\r\n\r\nhi",
      ours: #"200 [X-A: 1] [Content-Length: 2], "hi", ends at 49, stays open"#,
      httpParser: #"200 [X-A: 1 ] [Content-Length: 2], "hi", ends at 49, stays open"#),
    DifferenceExample(
      rule: "keeps the spaces of a folded line, and does not replace its line end with a space",
      response: "HTTP/1.1 200 OK\r\nX-A: 1\r\n\t 2\r\nContent-Length: 2\r\n\r\nhi",
      ours: #"200 [X-A: 1 2] [Content-Length: 2], "hi", ends at 53, stays open"#,
      httpParser: "200 [X-A: 1\t 2] [Content-Length: 2], \"hi\", ends at 53, stays open"),
    DifferenceExample(
      rule: "reads a body after a 1xx, 204 or 304 head",
      response: "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nhi",
      ours: "304 [Content-Length: 2], ends at 48, stays open",
      httpParser: #"304 [Content-Length: 2], "hi", ends at 50, stays open"#),
    DifferenceExample(
      rule: "treats a longer name that begins with Transfer-Encoding as that field",
      response: "HTTP/1.1 200 OK\r\nTransfer-Encodings: 1\r\nContent-Length: 2\r\n\r\nhi",
      ours: #"200 [Transfer-Encodings: 1] [Content-Length: 2], "hi", ends at 63, stays open"#,
      httpParser: "refused: HPE_UNEXPECTED_CONTENT_LENGTH"),
    DifferenceExample(
      rule: "overlooks an element of a list if it is next to a tab",
      response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip,\tchunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
      ours: "200 [Transfer-Encoding: gzip,\tchunked], \"hi\", ends at 65, stays open",
      httpParser: "200 [Transfer-Encoding: gzip,\tchunked], \"2\\r\\nhi\\r\\n0\\r\\n\\r\\n\", ends with the connection"),
    DifferenceExample(
      rule: "overlooks the elements after an empty element or after an element that does not begin like a token",
      response: "HTTP/1.1 200 OK\r\nConnection: , close\r\nContent-Length: 2\r\n\r\nhi",
      ours: #"200 [Connection: , close] [Content-Length: 2], "hi", ends at 61, closes"#,
      httpParser: #"200 [Connection: , close] [Content-Length: 2], "hi", ends at 61, stays open"#),
    DifferenceExample(
      rule: "overlooks the elements after an element that is only the beginning of a known one",
      response: "HTTP/1.1 200 OK\r\nConnection: keep, close\r\nContent-Length: 2\r\n\r\nhi",
      ours: #"200 [Connection: keep, close] [Content-Length: 2], "hi", ends at 65, closes"#,
      httpParser: #"200 [Connection: keep, close] [Content-Length: 2], "hi", ends at 65, stays open"#),
    DifferenceExample(
      rule: "prefers keep-alive to close in HTTP/1.0",
      response: "HTTP/1.0 200 OK\r\nConnection: keep-alive, close\r\nContent-Length: 2\r\n\r\nhi",
      ours: #"200 HTTP/1.0 [Connection: keep-alive, close] [Content-Length: 2], "hi", ends at 71, closes"#,
      httpParser: #"200 HTTP/1.0 [Connection: keep-alive, close] [Content-Length: 2], "hi", ends at 71, stays open"#),
    DifferenceExample(
      rule: "reuses a connection after a transfer coding in HTTP/1.0",
      response: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
      ours: #"200 HTTP/1.0 [Connection: keep-alive] [Transfer-Encoding: chunked], "hi", ends at 83, closes"#,
      httpParser: #"200 HTTP/1.0 [Connection: keep-alive] [Transfer-Encoding: chunked], "hi", ends at 83, stays open"#),
    DifferenceExample(
      rule: "reads Proxy-Connection like Connection",
      response: "HTTP/1.1 200 OK\r\nProxy-Connection: close\r\nContent-Length: 2\r\n\r\nhi",
      ours: #"200 [Proxy-Connection: close] [Content-Length: 2], "hi", ends at 65, stays open"#,
      httpParser: #"200 [Proxy-Connection: close] [Content-Length: 2], "hi", ends at 65, closes"#),
    DifferenceExample(
      rule: "obeys trailers that decide about the connection",
      response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nConnection: close\r\n\r\n",
      ours: #"200 [Transfer-Encoding: chunked], "hi", trailer [Connection: close], ends at 78, stays open"#,
      httpParser: #"200 [Transfer-Encoding: chunked], "hi", trailer [Connection: close], ends at 78, closes"#),
  ]
}
