import Glibc
import SluiceAssembly
import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceUpdate
import SluiceUpdateRules
import Testing

/// Attacks on builds and on their download (TUF §5.7).
@Suite struct TargetTests {
  private let releases: ReleaseServer
  private let machine: UpdatedMachine

  init() throws {
    releases = try ReleaseServer()
    machine = try UpdatedMachine(releases)
  }

  private func path(_ build: String) async throws -> String {
    ReleaseServer.targetPath(try await releases.target(build).sha256)
  }

  // MARK: Other content

  @Test func `if the server sends another release's build, it is refused`() async throws {
    let (one, two) = (try await path("1.0"), try await path("1.1"))
    let old = try releases.read(one)
    try await machine.refuses(.mismatch) {
      try await releases.publish("1.1")
      // The build is at least as long as the one that the release names.
      let padded = old + [UInt8](repeating: 0, count: max(0, try releases.read(two).count - old.count))
      releases.intercept(two) { _ in ServerResponse(body: .bytes(padded)) }
    } repair: {
      releases.intercept(nil)
    }
  }

  @Test func `each file is refused if it is truncated or if any byte is changed`() async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    try releases.putRoot()
    try await releases.publish("1.1")
    let names = [
      ReleaseServer.rootPath(2), ReleaseServer.timestampPath, ReleaseServer.releasePath(2), try await path("1.1"),
    ]
    for name in names {
      let bytes = try releases.read(name)
      var damaged = stride(from: 0, to: bytes.count, by: 64).map { bytes.flipped(at: $0) }
      damaged += stride(from: 0, to: bytes.count, by: 64).map { Array(bytes.prefix($0)) }
      for file in damaged {
        releases.intercept(name) { _ in ServerResponse(body: .bytes(file)) }
        let result = try await machine.look()
        #expect(result.action == .failed && result.release == 1, "\(name): \(result)")
      }
    }
    releases.intercept(nil)
    try await machine.installs(2)
  }

  // MARK: Endless data

  /// Returns a response whose body has this length, or an endless body.
  private static func endless(_ byteCount: UInt64 = 1 << 40, isChunked: Bool) -> ServerResponse {
    ServerResponse(body: .generated(BytePattern([0x41]), byteCount: byteCount, chunked: isChunked))
  }

  @Test(arguments: [false, true]) func `an endless document is refused`(isChunked: Bool) async throws {
    for name in [ReleaseServer.rootPath(2), ReleaseServer.timestampPath, ReleaseServer.releasePath(2)] {
      let releases = try ReleaseServer()
      let machine = try UpdatedMachine(releases)
      try await releases.publish("1.0")
      try await machine.installs(1)
      try await releases.publish("1.1")
      releases.intercept(name) { _ in Self.endless(isChunked: isChunked) }
      let result = try await machine.look()
      #expect(result.action == .failed, "\(result)")
      #expect(result.error?.code == .tooLarge || result.error?.code == .network, "\(result)")
      releases.intercept(nil)
      try await machine.installs(2)
    }
  }

  @Test(arguments: [false, true]) func `an endless build is refused`(isChunked: Bool) async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    try await releases.publish("1.1")
    let name = try await path("1.1")
    let count = try releases.read(name).count
    releases.intercept(name) { _ in Self.endless(isChunked: isChunked) }
    let result = try await machine.look()
    #expect(result.error?.code == .tooLarge || result.error?.code == .network, "\(result)")
    // The file on disk is not longer than the release says.
    for part in FileTree.names(in: machine.path("downloads")) {
      #expect(try FileTree.read(machine.path("downloads/\(part)")).count <= count)
    }
    releases.intercept(nil)
    // The bytes on disk have another hash, so the build is fetched again.
    _ = try await machine.look()
    if try machine.status()["installed"]?.integer != 2 { try await machine.installs(2) }
  }

  // MARK: Redirects

  @Test func `a redirect to another host is not followed`() async throws {
    let other = try ReleaseServer()
    for name in [ReleaseServer.timestampPath, ReleaseServer.releasePath(2), try await path("1.1")] {
      let releases = try ReleaseServer()
      try await UpdatedMachine(releases).refuses(.network) {
        try await releases.publish("1.1")
        releases.intercept(name) { _ in
          ServerResponse(status: 302, headers: [HeaderLine("Location", "\(other.url)/\(name)")])
        }
      } repair: {
        releases.intercept(nil)
      }
    }
    #expect(other.requestedPaths.isEmpty)
  }

  @Test func `a redirect within the origin is followed`() async throws {
    try await releases.publish("1.0")
    let (releases, folder) = (releases, releases.path(""))
    releases.intercept { path, request in
      guard path.hasPrefix("moved/") else {
        return ServerResponse(status: 302, headers: [HeaderLine("Location", "\(releases.url)/moved/\(path)")])
      }
      return ReleaseServer.file(folder + String(path.dropFirst("moved/".count)), request)
    }
    try await machine.installs(1)
  }

  @Test func `redirects in a circle end`() async throws {
    try await machine.refuses(.network) {
      releases.intercept { path, _ in
        ServerResponse(status: 302, headers: [HeaderLine("Location", "/\(path)")])
      }
    }
  }

  // MARK: Interrupted downloads

  /// Makes a machine that uses a mirror, has release 1 installed, and can fetch release 2.
  private func interrupted(
    after count: Int, _ body: (RawMirror, UpdatedMachine, _ path: String) async throws -> Void
  ) async throws {
    let mirror = try RawMirror(releases)
    let machine = try UpdatedMachine(releases, url: mirror.url)
    try await releases.publish("1.0")
    try await machine.installs(1)
    try await releases.publish("1.1")
    let path = try await path("1.1")
    mirror.set(.cuts(after: count), for: path)
    try await machine.fails(.network)
    try machine.expectInstalled(1)
    mirror.set(nil, for: path)
    try await body(mirror, machine, path)
  }

  @Test func `a download continues where it was interrupted`() async throws {
    try await interrupted(after: 5000) { mirror, machine, _ in
      try await machine.installs(2)
      #expect(mirror.requestedRanges == ["bytes=5000-"])
    }
  }

  @Test func `a download that was interrupted at its beginning begins again`() async throws {
    try await interrupted(after: 0) { mirror, machine, _ in
      try await machine.installs(2)
      #expect(mirror.requestedRanges == [])
    }
  }

  @Test func `a download completes if the server ignores the range and sends the whole build`() async throws {
    try await interrupted(after: 5000) { mirror, machine, path in
      mirror.set(.sendsAll, for: path)
      try await machine.installs(2)
    }
  }

  @Test func `a response whose range differs from the requested range is not used`() async throws {
    try await interrupted(after: 5000) { mirror, machine, path in
      mirror.set(.sendsFrom(4000), for: path)
      try await machine.fails(.network)
      mirror.set(nil, for: path)
      try await machine.installs(2)
    }
  }

  @Test func `a file that has changed since the interruption is refused, and then fetched again`() async throws {
    try await interrupted(after: 5000) { mirror, machine, path in
      let good = try releases.read(path)
      try releases.put(good.flipped(at: 6000), at: path)
      try await machine.fails(.mismatch)
      try releases.put(good, at: path)
      try await machine.installs(2)
      #expect(mirror.requestedRanges == ["bytes=5000-"])
    }
  }

  @Test func `a file that has become shorter since the interruption is fetched again`() async throws {
    try await interrupted(after: 5000) { _, machine, path in
      let good = try releases.read(path)
      try releases.put(Array(good.prefix(4000)), at: path)
      let result = try await machine.look()
      #expect(result.action == .failed, "\(result)")
      try releases.put(good, at: path)
      _ = try await machine.look()
      _ = try await machine.look()
      try machine.expectInstalled(2)
    }
  }

  @Test func `wrong bytes that an earlier download has left are not used`() async throws {
    try await interrupted(after: 5000) { _, machine, path in
      let name = "downloads/\(path.split(separator: "/")[1].dropLast(3)).part"
      let part = try FileTree.read(machine.path(name))
      #expect(part.count == 5000)
      try machine.files.write(part.flipped(at: 100), to: "installed/\(name)")
      try await machine.fails(.mismatch)
      try await machine.installs(2)
    }
  }

  @Test func `a partial download that is longer than the build is fetched again`() async throws {
    try await interrupted(after: 5000) { mirror, machine, path in
      let name = "downloads/\(path.split(separator: "/")[1].dropLast(3)).part"
      try machine.files.write(releases.read(path) + [0], to: "installed/\(name)")
      try await machine.installs(2)
      #expect(mirror.requestedRanges == [])
    }
  }

  /// If nobody writes to a pipe, a read from it would never end.
  @Test func `if a named pipe replaces a download or the history, the updater does not block`() async throws {
    try await releases.publish("1.0")
    _ = try machine.updater()
    mkfifo(machine.path("history.jsonl"), 0o600)
    let part = machine.path("downloads/\(try await releases.target("1.0").sha256).part")
    mkfifo(part, 0o600)
    try await machine.fails(.state)
    unlink(part)
    try await machine.installs(1)
  }

  // MARK: Slow data

  @Test func `if a mirror stops or is slow, the fetch of a document fails after a time limit`() async throws {
    for name in [ReleaseServer.timestampPath, ReleaseServer.releasePath(2)] { try await expectGivenUp(name) }
  }

  @Test func `if a mirror stops or is slow, the fetch of a build fails after a time limit`() async throws {
    try await expectGivenUp(try await path("1.1"))
  }

  /// The first limit is for the time without data, the second for the whole download.
  private func expectGivenUp(_ name: String) async throws {
    let releases = try ReleaseServer()
    let mirror = try RawMirror(releases)
    let machine = try UpdatedMachine(releases, url: mirror.url)
    try await releases.publish("1.0")
    try await machine.installs(1)
    try await releases.publish("1.1")
    mirror.set(.stops(after: 10, reached: Signal()), for: name)
    for limits in [
      MirrorLimits(idle: .milliseconds(50)),
      MirrorLimits(document: .milliseconds(50), build: .milliseconds(50)),
    ] {
      let result = try await machine.updater(limits: limits).check(.immediate)
      #expect(result.error?.code == .network, "\(result)")
      try machine.expectInstalled(1)
    }
    mirror.set(nil, for: name)
    try await machine.installs(2)
  }

  // MARK: Responses that are not HTTP

  @Test func `a mirror that does not send HTTP does not change the files on disk`() async throws {
    let mirror = try RawMirror(releases)
    let machine = try UpdatedMachine(releases, url: mirror.url)
    try await releases.publish("1.0")
    try await machine.installs(1)
    try await releases.publish("1.1")
    let answers = [
      "", "\0", "HTTP/1.1 200 \0\r\n\r\n", "HTTP/1.1 200 OK\r\nX\0: \u{1B}[2J\r\n\r\n", "HTTP/1.1 999 \u{202E}\r\n\r\n",
      "HTTP/1.1 302 Found\r\nLocation: \0\u{1B}\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 302 Found\r\nLocation: http://\u{7F}\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\0\r\n\r\nx",
      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nx",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\0\0", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\"\u{1B}\"\n",
    ]
    for name in [ReleaseServer.timestampPath, ReleaseServer.releasePath(2), try await path("1.1")] {
      for answer in answers {
        mirror.set(.sends(Array(answer.utf8)), for: name)
        let result = try await machine.look()
        #expect(result.action == .failed && result.release == 1, "\(answer): \(result)")
      }
      mirror.set(nil, for: name)
    }
    try await machine.installs(2)
  }

  // MARK: Builds that cannot be used

  @Test(arguments: ["text", "none"]) func `a build that is not a plugin is refused, and the old build still serves`(
    kind: String
  ) async throws {
    let noPlugin = try await PluginCompiler.compile(source: "int answer(void) { return 42; }", name: "none")
    let bytes = kind == "text" ? Array("this is no library".utf8) : try FileTree.read(noPlugin.path)
    let hash = try ReleaseServer.hash(bytes)
    try await releases.publish("1.0")
    try releases.put(bytes, at: ReleaseServer.targetPath(hash))
    try await UpdatedEngine.run(on: machine) { running in
      try releases.putRelease { release in
        (release.targets[0].sha256, release.targets[0].length) = (hash, Int64(bytes.count))
      }
      let result = await running.updater.check()
      #expect(result.action == .failed && result.error?.code == .refused, "\(result)")
      let build = try await running.build()
      #expect(build == "1.0")
      let status = try machine.status()
      #expect(status["installed"]?.integer == 1 && status["held"]?["release"]?.integer == 2, "\(status)")
      #expect(status["refused"]?[hash] != nil, "\(status)")
      let again = await running.updater.check()
      #expect(again.action == .none, "\(again)")
    }
    #expect(releases.requestCount(ReleaseServer.targetPath(hash)) == 1)
  }

  @Test func `a damaged build on disk is not loaded at the next start`() async throws {
    try await releases.publish("1.0")
    try await machine.installs(1)
    let name = try await path("1.0").replacing("targets/", with: "builds/")
    let good = try FileTree.read(machine.path(name))
    try machine.files.write(good.flipped(at: good.count / 2), to: "installed/\(name)")
    releases.intercept { _, _ in .text("gone", status: 503) }
    await #expect(throws: UpdateError.self) { try await machine.updater().prepare() }
    releases.intercept(nil)
    let build = try await UpdatedEngine.run(on: machine) { try await $0.build() }
    #expect(build == "1.0")
    #expect(try FileTree.read(machine.path(name)) == good)
  }
}
