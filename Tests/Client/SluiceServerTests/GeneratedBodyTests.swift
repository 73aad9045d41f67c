import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@Suite struct GeneratedBodyTests {
  /// Sends 256 MiB, in a process with only the server and its client.
  @Test(arguments: [false, true])
  func `a generated body follows its pattern and is never in memory as a whole`(chunked: Bool) async {
    await #expect(processExitsWith: .success) { [chunked] in try Self.generate(chunked: chunked) }
  }

  private static func generate(chunked: Bool) throws {
    let byteCount = 256 * 1024 * 1024
    let server = try LoopbackServer { _ in
      ServerResponse(body: .generated(.alphabet, byteCount: UInt64(byteCount), chunked: chunked))
    }
    let client = try RawClient(port: server.port)
    let before = try #require(ProcessFacts().residentBytes)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    let (status, head) = try client.readHead()
    #expect(status == 200)
    if chunked {
      #expect(head.headers.first("Transfer-Encoding") == "chunked")
      _ = try client.take(1_000_000)
    } else {
      #expect(try client.skip(byteCount, expecting: .alphabet) == byteCount)
    }
    let after = try #require(ProcessFacts().residentBytes)
    #expect(Sanitizer.isOn || after < before + byteCount / 2)
  }

  @Test func `a pattern repeats from any offset`() {
    let pattern = BytePattern(Array("abc".utf8))
    #expect(pattern.bytes(from: 1, count: 5) == Array("bcabc".utf8))
    #expect(pattern[UInt64(Int64.max)] == pattern.bytes(from: UInt64(Int64.max), count: 1)[0])
    let long = pattern.bytes(from: 2, count: 200_000)
    #expect(long.indices.allSatisfy { long[$0] == pattern[UInt64($0) + 2] })
    #expect(BytePattern([]).bytes(from: 0, count: 2) == [0, 0])
  }
}
