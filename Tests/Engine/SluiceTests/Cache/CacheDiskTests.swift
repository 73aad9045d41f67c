import Glibc
import Sluice
import SluiceMessages
import SluicePluginFile
import SluicePluginHost
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// The folder of the shipped cache.
@Suite struct CacheDiskTests {
  private let folder: TemporaryDirectory
  private var path: String { folder.path("http") }

  init() throws { folder = try TemporaryDirectory() }

  private func engine(_ more: String = "", bytes: Int = 1_048_576, log: LineLog = LineLog()) throws -> Engine {
    try CacheEngine.make(#"{"disk": {"path": "\#(path)", "bytes": \#(bytes)}\#(more)}"#, loops: 2) { log.append($0) }
  }

  /// The files of all entries.
  private func files() -> [String] {
    FileTree.names(in: path).filter { $0.utf8.count == 64 }.flatMap { name in
      FileTree.names(in: "\(path)/\(name)").map { "\(path)/\(name)/\($0)" }
    }
  }

  private static func get(_ engine: Engine, _ url: String, _ headers: HeaderFields = [:]) async throws -> String {
    let response = try await engine.perform(Request(url: HTTPURL(url), headers: headers))
    return String(decoding: response.body.bytes ?? [], as: UTF8.self)
  }

  @Test func `the next engine uses the entries on disk, even without the server`() async throws {
    let server = try LoopbackServer { request in .cacheable("body of \(request.target)", "max-age=600") }
    let url = server.baseURL
    let first = try engine()
    for index in 0..<20 { _ = try await Self.get(first, "\(url)/\(index)") }
    await first.shutdown()
    server.stop()
    #expect(files().count == 20)
    let second = try engine()
    for index in 0..<20 { #expect(try await Self.get(second, "\(url)/\(index)") == "body of /\(index)") }
    await second.shutdown()
  }

  @Test func `variants, tags and times of stored responses survive the end of the engine`() async throws {
    let server = try LoopbackServer { request in
      if request.value(of: "if-none-match") == "\"t\"" { return ServerResponse(status: 304) }
      return .cacheable(
        request.value(of: "x-kind") ?? "", "max-age=100", ["Vary: X-Kind", "ETag: \"t\"", "Date: @-200"])
    }
    defer { server.stop() }
    let first = try engine()
    for kind in ["a", "b"] { _ = try await Self.get(first, server.baseURL, ["x-kind": kind]) }
    await first.shutdown()
    let second = try engine()
    for kind in ["a", "b"] { #expect(try await Self.get(second, server.baseURL, ["x-kind": kind]) == kind) }
    #expect(server.requests.map { $0.value(of: "if-none-match") } == [nil, nil, "\"t\"", "\"t\""])
    await second.shutdown()
  }

  /// The damage that a crash, a full disk or another program can do to a file.
  enum Damage: String, CaseIterable, Sendable {
    case cutShort, emptied, oneBit, otherVersion, longer, directory, link
  }

  @Test(arguments: Damage.allCases)
  func `a damaged file is dropped and its response is fetched again`(damage: Damage) async throws {
    let server = try LoopbackServer { _ in .cacheable("right", "max-age=600") }
    defer { server.stop() }
    let first = try engine()
    #expect(try await Self.get(first, server.baseURL) == "right")
    await first.shutdown()
    let file = try #require(files().first)
    try spoil(file, damage)
    let second = try engine()
    #expect(try await Self.get(second, server.baseURL) == "right")
    #expect(server.requestCount == 2)
    await second.shutdown()
    let third = try engine()
    #expect(try await Self.get(third, server.baseURL) == "right")
    #expect(server.requestCount == (damage == .directory ? 3 : 2))
    await third.shutdown()
  }

  private func spoil(_ file: String, _ damage: Damage) throws {
    var bytes = try FileTree.read(file)
    unlink(file)
    switch damage {
    case .cutShort: bytes.removeLast(bytes.count / 2)
    case .emptied: bytes = []
    case .oneBit: bytes[bytes.count - 3] ^= 4
    case .otherVersion: bytes[7] = UInt8(ascii: "0")
    case .longer: bytes.append(0)
    case .directory:
      #expect(mkdir(file, 0o700) == 0)
      return
    case .link:
      #expect(symlink("/etc/hostname", file) == 0)
      return
    }
    try folder.write(bytes, to: String(file.dropFirst(folder.path.utf8.count + 1)))
  }

  /// A place is an offset in the file after the URL: 0 is the status, 8 the time of the request, 16 the time of the
  /// response. The two statuses are below and above the valid range.
  @Test(arguments: [(0, 99), (0, 1000), (8, .min), (16, .min), (16, .max)] as [(Int, Int64)])
  func `a complete file with an impossible number is dropped and its response is fetched again`(
    place: Int, number: Int64
  ) async throws {
    let server = try LoopbackServer { _ in .cacheable("right", "max-age=600") }
    defer { server.stop() }
    let first = try engine()
    #expect(try await Self.get(first, server.baseURL) == "right")
    await first.shutdown()
    try forge(try #require(files().first), number, at: place)
    let second = try engine()
    #expect(try await Self.get(second, server.baseURL) == "right")
    #expect(server.requestCount == 2)
    await second.shutdown()
  }

  /// Replaces one number in an entry's file, and updates the digest to match.
  private func forge(_ file: String, _ number: Int64, at place: Int) throws {
    var bytes = try FileTree.read(file)
    // The file begins with a mark of 8 bytes, a digest of 32 bytes, and the length of the URL.
    let urlLength = bytes[40..<48].reversed().reduce(0) { $0 << 8 | Int($1) }
    let start = 48 + urlLength + place
    for index in 0..<8 { bytes[start + index] = UInt8(truncatingIfNeeded: number >> Int64(8 * index)) }
    let digest = try #require(ContentHash(of: Array(bytes[40...]))).hex
    for index in 0..<32 {
      bytes[8 + index] = try #require(UInt8(digest.dropFirst(2 * index).prefix(2), radix: 16))
    }
    try folder.write(bytes, to: String(file.dropFirst(folder.path.utf8.count + 1)))
  }

  @Test func `only the owner can access the folder, and no request header value is in it`() async throws {
    let server = try LoopbackServer { _ in .cacheable("body", "max-age=600", ["Vary: X-Key"]) }
    defer { server.stop() }
    let engine = try engine()
    _ = try await Self.get(engine, server.baseURL, ["authorization": "Bearer hunter2", "x-key": "hunter3"])
    await engine.shutdown()
    let file = try #require(files().first)
    let entry = String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)])
    for (name, mode) in [(path, 0o700), (entry, 0o700), (file, 0o600)] as [(String, mode_t)] {
      var facts = stat()
      #expect(stat(name, &facts) == 0)
      #expect(facts.st_mode & 0o777 == mode, "\(name)")
    }
    let text = String(decoding: try FileTree.read(file), as: UTF8.self)
    #expect(text.contains("body"))
    #expect(!text.contains("hunter"))
  }

  @Test func `a folder that others can access is refused`() throws {
    #expect(mkdir(path, 0o755) == 0)
    #expect(chmod(path, 0o755) == 0)
    let error = #expect(throws: (any Error).self) { try engine() }
    #expect(error.map { "\($0)" }?.contains("is open to others") == true)
  }

  @Test func `the folder stays within its limit`() async throws {
    let server = try LoopbackServer(recording: .countOnly) { request in
      .cacheable(String(repeating: "x", count: 4000), "max-age=600")
    }
    defer { server.stop() }
    let engine = try engine(bytes: 65536)
    for index in 0..<60 { _ = try await Self.get(engine, "\(server.baseURL)/\(index)") }
    await engine.shutdown()
    let total = try files().reduce(0) { try $0 + FileTree.read($1).count }
    #expect(total <= 65536)
    #expect(total > 40_000)
    #expect(!FileTree.names(in: path).contains { $0.hasPrefix("new-") })
  }

  @Test(.enabled(if: access("/dev/shm", W_OK) == 0, "there is no /dev/shm"))
  func `files of the largest possible size are counted and removed`() async {
    await #expect(processExitsWith: .success) {
      // A file system in memory accepts a file of any size.
      setenv("TMPDIR", "/dev/shm", 1)
      let test = try CacheDiskTests()
      try test.folder.makeFolder("http")
      for letter in ["a", "b"] {
        let name = "http/" + String(repeating: letter, count: 64)
        try test.folder.makeFolder(name)
        try test.folder.writeSparse(byteCount: .max, to: "\(name)/\(letter)")
      }
      #expect(test.files().count == 2)
      let engine = try test.engine()
      #expect(test.files().isEmpty)
      await engine.shutdown()
    }
  }

  @Test func `unfinished files of a writer that died are removed after an hour, and not before`() async throws {
    #expect(mkdir(path, 0o700) == 0)
    for name in ["new-1-1", "new-1-2"] { try folder.write("half", to: "http/\(name)") }
    var times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
    #expect(utimensat(AT_FDCWD, "\(path)/new-1-1", &times, 0) == 0)
    let engine = try engine()
    #expect(FileTree.names(in: path).filter { $0.hasPrefix("new-") } == ["new-1-2"])
    await engine.shutdown()
  }

  @Test func `outdated entries are removed from the disk`() async throws {
    let server = try LoopbackServer { _ in .cacheable("body", "max-age=600") }
    defer { server.stop() }
    let engine = try engine()
    _ = try await Self.get(engine, server.baseURL)
    _ = try await engine.perform(Request(method: "DELETE", url: HTTPURL(server.baseURL)))
    await engine.shutdown()
    #expect(files().isEmpty)
  }

  @Test func `engines that share a folder find each other's entries, and never an incomplete one`() async throws {
    let server = try LoopbackServer(recording: .countOnly) { request in
      .cacheable(String(repeating: request.target, count: 300), "max-age=600")
    }
    defer { server.stop() }
    // The memory holds one or two entries, so nearly all entries come from the folder. Its limit is tight, too.
    let engines = try (0..<3).map { _ in try engine(#", "memoryBytes": 3000"#, bytes: 65536) }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for (worker, engine) in engines.enumerated() {
        group.addTask {
          var wrong = 0
          for round in 0..<150 {
            let target = "/\((worker * 5 + round) % 40)"
            let body = try await Self.get(engine, server.baseURL + target)
            if body != String(repeating: target, count: 300) { wrong += 1 }
          }
          return wrong
        }
      }
      let wrong = try await group.reduce(0, +)
      #expect(wrong == 0)
    }
    #expect(server.requestCount < 450)
    for engine in engines { await engine.shutdown() }
  }

  @Test func `a full disk is reported once, and the memory cache continues`() async throws {
    await #expect(processExitsWith: .success) {
      let test = try CacheDiskTests()
      let server = try LoopbackServer { _ in .cacheable(String(repeating: "x", count: 5000), "max-age=600") }
      let log = LineLog()
      let engine = try test.engine(log: log)
      var limit = rlimit(rlim_cur: 2000, rlim_max: 2000)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      for _ in 0..<2 {
        for index in 0..<5 {
          let body = try await CacheDiskTests.get(engine, "\(server.baseURL)/\(index)")
          #expect(body.utf8.count == 5000)
        }
      }
      #expect(server.requestCount == 5)
      await engine.shutdown()
      #expect(log.lines.count { $0.contains("File too large; responses are now cached only in memory") } == 1)
      #expect(test.files().isEmpty)
      #expect(!FileTree.names(in: test.path).contains { $0.hasPrefix("new-") })
      server.stop()
    }
  }
}

/// The log of an engine and its plugins.
final class LineLog: Sendable {
  private let log = Locked<[String]>([])

  var lines: [String] { log.withLock { $0 } }

  func append(_ line: LogLine) { log.withLock { $0.append("\(line)") } }
}
