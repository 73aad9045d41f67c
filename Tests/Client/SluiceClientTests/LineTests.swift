import SluiceClient
import SluiceMessages
import SluicePipeline
import SluiceTestServers
import Testing

@testable import SluiceClient

@Suite struct LineTests {
  /// The lines of a text that arrives in pieces of `pieceBytes` bytes.
  private static func lines(_ text: String, pieceBytes: Int, maximumBytes: Int = 100) throws -> [String] {
    var splitter = LineSplitter(maximumBytes: maximumBytes)
    var lines: [String] = []
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
      splitter.append(Array(bytes[start..<min(start + pieceBytes, bytes.count)]))
      while let line = try splitter.nextLine() { lines.append(String(decoding: line, as: UTF8.self)) }
    }
    if let last = splitter.finish() { lines.append(String(decoding: last, as: UTF8.self)) }
    return lines
  }

  @Test(arguments: [1, 2, 3, 1000]) func `lines end with LF, CR LF or CR, however they arrive`(_ size: Int) throws {
    #expect(try Self.lines("a\nb\r\nc\rd", pieceBytes: size) == ["a", "b", "c", "d"])
    #expect(try Self.lines("", pieceBytes: size) == [])
    #expect(try Self.lines("\n\r\n\r\r\n\n", pieceBytes: size) == ["", "", "", "", ""])
    #expect(try Self.lines("a\n", pieceBytes: size) == ["a"])
    #expect(try Self.lines("ä\r\nß", pieceBytes: size) == ["ä", "ß"])
  }

  @Test(arguments: [1, 3, 1000]) func `a line that is longer than the limit is an error`(_ size: Int) throws {
    #expect(try Self.lines("1234\n1234", pieceBytes: size, maximumBytes: 4) == ["1234", "1234"])
    #expect(throws: LineSplitter.TooLong.self) { try Self.lines("12345\n", pieceBytes: size, maximumBytes: 4) }
    #expect(throws: LineSplitter.TooLong.self) { try Self.lines("123456", pieceBytes: size, maximumBytes: 4) }
  }

  @Test func `a body is read line by line`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\none\r\ntwo\n\n"), .send("é"))
    defer { server.stop() }
    try await withClient { client in
      var lines: [String] = []
      for try await line in try await client.bytes(from: server.url()).bytes.lines { lines.append(line) }
      #expect(lines == ["one", "two", "", "é"])
    }
  }

  @Test func `a line that is too long throws an error and ends the transfer`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n1234567890"), .receiveToEnd)
    defer { server.stop() }
    try await withClient { client in
      let error = await #expect(throws: TransactionError.self) {
        for try await _ in try await client.bytes(from: server.url()).bytes.lines(maximumBytes: 4) {}
      }
      #expect(error?.code == .extraction)
      try await server.waitForScripts()
    }
  }
}
