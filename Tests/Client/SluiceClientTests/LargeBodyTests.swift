import Glibc
import SluiceAssembly
import SluiceClient
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// Bodies that are much larger than the memory that a client may use. The server runs in the process of the tests, and
/// the client in its own process, so that only the client's memory is measured.
///
/// The bodies have 64 MiB, or 1 GiB with `SLUICE_SOAK=1`.
@Suite struct LargeBodyTests {
  enum Call: String, CaseIterable, Codable, Sendable {
    case download, bytes, fileUpload, sequenceUpload
  }

  private static let byteCount = getenv("SLUICE_SOAK") != nil ? 1 << 30 : 64 << 20
  private static let maximumGrowthBytes = 32 << 20

  @Test(arguments: Call.allCases) func `a large body needs only constant memory`(call: Call) async throws {
    let server = try Self.server()
    defer { server.stop() }
    await #expect(processExitsWith: .success) { [base = server.baseURL as String, call = call as Call] in
      try await LargeBodyTests.withPatientClient { client in
        let place = try DownloadFolder()
        try LargeBodyTests.requireRoom(in: place)
        // Memory that is allocated only once is allocated before the measurement.
        try await LargeBodyTests.make(call, client, base, place, 1 << 20)
        let memory = try MemoryGrowth()
        try await LargeBodyTests.make(call, client, base, place, LargeBodyTests.byteCount)
        try memory.expect(atMost: LargeBodyTests.maximumGrowthBytes)
      }
    }
  }

  @Test func `while a reader stops, the server must wait, and the rest of the body arrives when the reader continues`()
    async throws
  {
    // One signal for each mebibyte that the server has sent.
    let steps = (0..<(Self.byteCount >> 20)).map { _ in Signal() }
    let script: [ScriptStep] = steps.flatMap { [.sendPattern(pattern, byteCount: 1 << 20), .signal($0)] }
    let server = try ScriptedServer { head, _ in
      head.startLine.contains("/progress")
        ? [.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\(1000 + steps.count { $0.isSet })")]
        : [.send("HTTP/1.1 200 OK\r\nContent-Length: \(Self.byteCount)\r\n\r\n")] + script
    }
    defer { server.stop() }
    await #expect(processExitsWith: .success) { [base = server.baseURL as String] in
      try await LargeBodyTests.withPatientClient { client in
        let progress = try HTTPURL(base + "/progress")
        for _ in 0..<20 { _ = try await client.data(from: progress) }
        let memory = try MemoryGrowth()
        let (bytes, _) = try await client.bytes(from: HTTPURL(base + "/"))
        var iterator = bytes.chunks.makeAsyncIterator()
        var count = try await iterator.next()?.count ?? 0
        // To answer each of these requests, the loop makes a turn. In the same turn, it could also read the large body.
        var last: [UInt8] = []
        var turns = 0
        while turns < 50 {
          let (now, _) = try await client.data(from: progress)
          turns = now == last ? turns + 1 : 0
          last = now
        }
        // The kernel's buffers hold some megabytes, and the client's buffer holds one.
        let sent = (Int(String(decoding: last, as: UTF8.self)) ?? 0) - 1000
        #expect(sent < 32, "the server has sent \(sent) MiB to a reader that does not read")
        try memory.expect(atMost: LargeBodyTests.maximumGrowthBytes)
        while let chunk = try await iterator.next() { count += chunk.count }
        #expect(count == LargeBodyTests.byteCount)
      }
    }
  }

  // MARK: The server

  /// A server that sends as many bytes as the path says, and accepts bodies of any size.
  private static func server() throws -> ScriptedServer {
    try ScriptedServer { head, _ in
      let path = head.startLine.split(separator: " ").dropFirst().first ?? "/"
      guard let count = Int(path.dropFirst()) else { return [.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] }
      return [
        .send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n"), .sendPattern(pattern, byteCount: count),
      ]
    }
  }

  // MARK: The client

  private static func withPatientClient(_ body: (Client) async throws -> Void) async throws {
    try await withClient(
      acceptsEveryStatus: false,
      {
        $0.deadline = nil
        $0.transport.timeout = Patience.limit
      }, body)
  }

  private static func requireRoom(in place: DownloadFolder) throws {
    var facts = statvfs()
    try #require(statvfs(place.folder.path, &facts) == 0)
    let free = Int(facts.f_bavail) * Int(facts.f_frsize)
    try #require(free > 2 * byteCount, "\(place.folder.path) needs \(byteCount >> 19) MiB; TMPDIR names another folder")
  }

  private static func make(
    _ call: Call, _ client: Client, _ base: String, _ place: DownloadFolder, _ count: Int
  ) async throws {
    let url = try HTTPURL("\(base)/\(count)")
    let post = Request(method: "POST", url: try HTTPURL(base + "/"))
    switch call {
    case .download:
      _ = try await client.download(from: url, to: place.target)
      var content = PatternCheck()
      let file = FileDescriptor(adopting: open(place.target, O_RDONLY | O_CLOEXEC))
      while case let piece = try file.read(), !piece.isEmpty { content.take(piece) }
      content.expect(count)
      #expect(place.names == ["file"])
    case .bytes:
      var content = PatternCheck()
      for try await chunk in try await client.bytes(from: url).bytes.chunks { content.take(chunk) }
      content.expect(count)
    case .fileUpload:
      let path = try place.folder.writeSparse(byteCount: count, to: "body")
      // The server answers when it has the whole body.
      _ = try await client.upload(for: post, fromFile: path)
    case .sequenceUpload:
      _ = try await client.upload(for: post, from: PatternPieces(byteCount: count), byteCount: count)
    }
  }
}

/// Measures the growth of this process's peak memory.
private struct MemoryGrowth {
  private let before: Int

  init() throws {
    before = try #require(ProcessFacts().residentBytes)
    // proc(5): resets the peak resident memory to the current value.
    let file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    try #require(file >= 0)
    try FileDescriptor(adopting: file).write(Array("5".utf8))
  }

  func expect(atMost limit: Int) throws {
    let growth = try #require(ProcessFacts().peakResidentBytes) - before
    #expect(Sanitizer.isOn || growth <= limit, "grew by \(growth >> 10) KiB, from \(before >> 10)")
  }
}

/// Compares pieces with the pattern that the server sends.
private struct PatternCheck {
  private var count = 0
  private var isRight = true

  mutating func take(_ piece: [UInt8]) {
    isRight = isRight && piece == pattern.bytes(from: UInt64(count), count: piece.count)
    count += piece.count
  }

  func expect(_ expected: Int) { #expect(count == expected && isRight) }
}

/// Pieces of 64 KiB that are made only when the client asks for them.
private struct PatternPieces: AsyncSequence, Sendable {
  let byteCount: Int

  struct AsyncIterator: AsyncIteratorProtocol {
    var rest: Int

    mutating func next() async -> [UInt8]? {
      guard rest > 0 else { return nil }
      let count = Swift.min(65_536, rest)
      rest -= count
      return pattern.bytes(from: 0, count: count)
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: byteCount) }
}
