import Dispatch
import Glibc
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// A response body that is streamed through a plugin into a pipe. The plugin changes the pieces, and the test reads the
/// pipe.
@Suite struct PieceTests {
  /// The size of the body: 64 MiB, or 256 MiB with SLUICE_SOAK.
  private static let byteCount = Tool.isSoak ? 256 << 20 : 64 << 20

  @Test func `a response that is streamed through a plugin needs only constant memory`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(body: .generated(.alphabet, byteCount: UInt64(Self.byteCount), chunked: true))
    }
    defer { server.stop() }
    let plugin = try await PluginCompiler.compile("changes-pieces")
    chmod(plugin.path, 0o755)
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      """
      {"plugins": {"upper": {"library": "\(plugin.path)"}}, "response": ["upper"]}
      """, to: "c.json")
    let pipe = folder.path("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    // Opens both ends, so that opening does not wait. Therefore, the test never gets an end of file, and reads by
    // length instead.
    let reader = FileDescriptor(adopting: open(pipe, O_RDWR | O_CLOEXEC))
    let running = try Tool.start("send", "-c", file, "-o", pipe, server.baseURL)
    let facts = ProcessFacts(of: running.processID)
    let early = try await Self.read(reader, Self.byteCount / 8)
    let earlyPeak = try #require(facts.peakResidentBytes)
    // The part that is still unread is larger than a pipe, so the process still exists when its memory is read.
    let middle = try await Self.read(reader, Self.byteCount - Self.byteCount / 8 - (4 << 20))
    let latePeak = try #require(facts.peakResidentBytes)
    let end = try await Self.read(reader, (4 << 20) + 1)
    #expect(early.others + middle.others + end.others == 0)
    #expect(end.last == UInt8(ascii: "."))
    // The output holds up to 4 MiB, in two arrays that grow by doubling.
    #expect(Sanitizer.isOn || latePeak - earlyPeak < 24 << 20, "\(earlyPeak >> 20) MiB, then \(latePeak >> 20)")
    #expect(Sanitizer.isOn || latePeak < 100 << 20, "\(latePeak >> 20) MiB")
    let result = try await running.wait()
    #expect(result.status == 0, "\(result.errorText)")
  }

  private struct Piece: Sendable {
    /// The number of bytes that are not capital letters, in a sample.
    var others = 0
    var last: UInt8 = 0
  }

  /// Reads `count` bytes on a thread that can block. Throws if no byte arrives for half a minute.
  private static func read(_ reader: FileDescriptor, _ count: Int) async throws -> Piece {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result { try readBlocking(reader, count) }) }
    }
  }

  private static func readBlocking(_ reader: FileDescriptor, _ count: Int) throws -> Piece {
    var piece = Piece()
    var left = count
    while left > 0 {
      var ready = pollfd(fd: reader.number, events: Int16(POLLIN), revents: 0)
      try #require(poll(&ready, 1, 30_000) == 1, "nothing came; \(left) of \(count) bytes are missing")
      let bytes = try reader.read(upTo: min(left, 65536))
      left -= bytes.count
      piece.last = bytes.last ?? 0
      for index in stride(from: 0, to: bytes.count - 1, by: 61) where bytes[index] < 0x41 || bytes[index] > 0x5A {
        piece.others += 1
      }
    }
    return piece
  }
}
