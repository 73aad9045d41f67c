import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// `sluice dev` with files that change while they are read: what serves at the end is what is on disk at the end.
@Suite struct DevAlternationTests {
  /// Waits until the stamp of a response is the expected one.
  private static func waitForStamp(_ stamp: String, of run: DevRun, at address: String) async throws {
    let deadline = ContinuousClock.now + Patience.limit
    while try await run.stamp(at: address) != stamp {
      try #require(ContinuousClock.now < deadline, "never \(stamp): \(run.running.outputSoFar)")
    }
  }

  @Test func `after thirty saves that alternate two builds, the last one serves`() async throws {
    let (run, library) = try await DevRun.stamped("--listen", "0")
    let address = try await run.start()
    for round in 0..<4 {
      for save in 0...30 {
        try library.install(save % 2 + 1, at: run.library)
        // A request takes about as long as a save. The file changes while the supervisor and the engine read it.
        if save % 3 == round % 3 { _ = try await run.stamp(at: address) }
      }
      try await Self.waitForStamp("1", of: run, at: address)
    }
    try library.install(2, at: run.library)
    try await Self.waitForStamp("2", of: run, at: address)
    try await run.end()
  }

  @Test func `after saves that alternate two configurations, the last one serves`() async throws {
    let (run, _) = try await DevRun.stamped("--listen", "0")
    let address = try await run.start()
    let url = run.server.baseURL
    let other = #""library": "a.so", "config": {"header": "x-other"}"#
    for _ in 0..<3 {
      for save in 0...20 {
        let text = save % 2 == 0 ? DevRun.configuration(url) : DevRun.configuration(url, plugin: other)
        try StampedLibrary.install(Array(text.utf8), at: run.folder.path("c.json"))
        if save % 3 == 0 { _ = try await run.stamp(at: address) }
      }
      try await Self.waitForStamp("1", of: run, at: address)
    }
    try await run.end()
  }

  @Test func `if another client swaps a build in that is no longer at the path, the build at the path follows`()
    async throws
  {
    let (run, library) = try await DevRun.stamped("--listen", "0")
    let address = try await run.start()
    try library.install(2, at: run.folder.path("copy.so"))
    let socket = try #require(run.events.first { $0["event"] == "started" }?["socket"]?.string)
    let sources = JSONValue.object()
    sources[run.library] = JSONValue(run.folder.path("copy.so"))
    let document: JSONValue = ["plugins": ["a"], "sources": sources]
    try await Command.check(
      "curl",
      [
        "-sS", "--fail", "--unix-socket", socket, "--data-binary",
        String(decoding: try document.serialized(), as: UTF8.self), "http://localhost/v1/swap",
      ])
    try await run.next("swapped")
    try await run.next("swapped")
    #expect(try await run.stamp(at: address) == "1")
    try await run.end()
  }

  /// A session whose library is a copy of the build whose number is in `source.txt`. The second source is for a build
  /// that writes: if it wrote `source.txt`, it could undo the save of a test.
  private static func building(_ script: String) async throws -> DevRun {
    let library = try await StampedLibrary.inC()
    let build = #""build": {"command": ["sh", "build.sh"], "sources": ["source.txt", "written.txt"]}"#
    return try await DevRun(
      "--listen", "0",
      configuration: {
        DevRun.configuration($0, plugin: #""library": "a.so", "config": {"header": "x-stamp-a"}, \#(build)"#)
      }
    ) { folder in
      for number in 1...2 { try library.install(number, at: folder.path("build-\(number).so")) }
      try StampedLibrary.install(
        Array("\(script)\ncp \"build-$n.so\" new.so && mv -f new.so a.so\n".utf8), at: folder.path("build.sh"))
      try StampedLibrary.install(Array("1".utf8), at: folder.path("source.txt"))
    }
  }

  @Test func `if the sources change and change back while a compiler reads them, the library is built again`()
    async throws
  {
    let run = try await Self.building(
      """
      [ -e first ] || printf 2 >source.txt
      n=$(cat source.txt)
      [ -e first ] || printf 1 >source.txt
      touch first
      """)
    let address = try await run.start()
    try await Self.waitForStamp("1", of: run, at: address)
    try await run.end()
  }

  @Test func `a build that writes one of its sources comes to an end`() async throws {
    let run = try await Self.building("n=$(cat source.txt); printf $n >written.txt")
    let address = try await run.start()
    try StampedLibrary.install(Array("2".utf8), at: run.folder.path("source.txt"))
    try await Self.waitForStamp("2", of: run, at: address)
    try await run.end()
    #expect(run.count("built") <= 6, "\(run.running.outputSoFar)")
  }
}
