import SluiceMessages
import Testing

@testable import SluiceHTTP1

@Suite struct SentResponseHeadTests {
  private func head(
    _ status: Int = 200, _ fields: HeaderFields = HeaderFields(), _ framing: SentResponseHead.Framing = .length(0),
    _ persistence: SentResponseHead.Persistence = .stays
  ) -> String {
    var bytes: [UInt8] = []
    SentResponseHead.append(to: &bytes, status: status, fields, framing, persistence)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `fields keep their order and the spelling of their names`() {
    let fields: HeaderFields = ["X-A": "1", "x-b": "", "set-cookie": "a=b", "Set-Cookie": "c=d"]
    #expect(
      head(201, fields, .length(7))
        == "HTTP/1.1 201 Created\r\nX-A: 1\r\nx-b:\r\nset-cookie: a=b\r\nSet-Cookie: c=d\r\nContent-Length: 7\r\n\r\n")
  }

  @Test func `fields of a connection and of the framing are replaced`() {
    let fields: HeaderFields = [
      "Content-Length": "99", "transfer-encoding": "gzip", "Connection": "x-a", "keep-alive": "timeout=1",
      "Upgrade": "h2c", "Trailer": "x", "Server": "s",
    ]
    #expect(head(200, fields, .chunked) == "HTTP/1.1 200 OK\r\nServer: s\r\nTransfer-Encoding: chunked\r\n\r\n")
  }

  @Test(
    arguments: [
      (204, SentResponseHead.Framing.none, .stays, "HTTP/1.1 204 No Content\r\n\r\n"),
      (599, .none, .stays, "HTTP/1.1 599 \r\n\r\n"),
      (200, .close, .stays, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"),
      (200, .length(1), .closes, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n"),
      (
        200, .length(1), .staysForOldClient,
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\n"
      ),
      (200, .close, .staysForOldClient, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"),
    ] as [(Int, SentResponseHead.Framing, SentResponseHead.Persistence, String)])
  func `the head says how the body and the connection end`(
    _ status: Int, _ framing: SentResponseHead.Framing, _ persistence: SentResponseHead.Persistence, _ text: String
  ) {
    #expect(head(status, [:], framing, persistence) == text)
  }

  /// Each head that is written is read back as it was meant.
  @Test(arguments: [100, 200, 204, 304, 404, 599])
  func `a response reader reads what was written`(_ status: Int) throws {
    let framing: SentResponseHead.Framing = SentResponseHead.hasNoBody(status: status) ? .none : .length(2)
    let bytes = Array(head(status, ["x-a": "1"], framing).utf8)
    let reader = ResponseHead()
    reader.begin(isAnswerToHead: false)
    #expect(try reader.read(bytes.span))
    #expect(reader.status == status && reader.byteCount == bytes.count && !reader.endsConnection)
    #expect(reader.body == (framing == .none ? .none : .length(2)))
  }
}
