import Glibc
import SluiceJSON
import SluiceTestKit
import SluiceTestServers
import Testing

/// `sluice dev`: plugins that crash while they serve.
@Suite struct DevCrashTests {
  /// Compiles a plugin that sets `x-stamp-a` to `build`. If `crashes`, it crashes at the path `/crash`.
  private static func compile(_ build: Int, crashes: Bool) async throws -> [UInt8] {
    let product = try await PluginCompiler.compile(
      "crashes-on-request", defines: ["BUILD=\(build)", "CRASHES=\(crashes ? 1 : 0)"])
    return try withExtendedLifetime(product) { try FileTree.read(product.path) }
  }

  private static func configuration(_ url: String, build: String = "", more: String = "") -> String {
    """
    {"plugins": {"a": {"library": "a.so"\(build)}\(more)}, "request": ["a"], "store": "store",
     "transport": {"baseURL": "\(url)"}}
    """
  }

  @Test func `a supervisor removes the files of a killed supervisor, but not the files of a running one`()
    async throws
  {
    let library = try await StampedLibrary.inC()
    let folder = try TemporaryDirectory()
    try library.install(1, at: folder.path("a.so"))
    let temporary = try folder.makeFolder("tmp")
    let file = try folder.write(DevRun.configuration("http://127.0.0.1:9"), to: "c.json")
    func folders() -> Set<String> { Set(FileTree.names(in: temporary).filter { $0.hasPrefix("sluice-dev-") }) }
    func start() async throws -> RunningCommand {
      let running = try Command(
        Tool.path, ["dev", "--json", "-c", file], environment: DevRun.environment(folder, temporary: temporary)
      ).start()
      try await running.waitForOutput(containing: "\"started\"")
      return running
    }
    let killed = try await start()
    let left = folders()
    #expect(left.count == 1)
    killed.send(signal: SIGKILL)
    _ = try await killed.wait(upTo: Patience.limit)
    #expect(folders() == left, "after SIGKILL, the folder is still there")
    let second = try await start()
    let own = folders()
    #expect(own.count == 1 && own.isDisjoint(with: left))
    let third = try await start()
    #expect(folders().count == 2 && folders().isSuperset(of: own))
    for running in [third, second] {
      running.send(signal: SIGINT)
      #expect(try await running.wait(upTo: Patience.limit).status == 130)
    }
    #expect(folders().isEmpty)
  }

  @Test func `a build that crashes ends only the engine, which continues with the previous build`() async throws {
    let (good, bad, mended) = (
      try await Self.compile(1, crashes: false), try await Self.compile(2, crashes: true),
      try await Self.compile(3, crashes: false)
    )
    let run = try await DevRun("--listen", "0", configuration: { Self.configuration($0) }) {
      try StampedLibrary.install(good, at: $0.path("a.so"))
    }
    let address = try await run.start()
    try StampedLibrary.install(bad, at: run.library)
    let hash = try #require(try await run.next("swapped")["report"]?["changes"]?[0]?["new"]?["hash"]?.string)
    #expect(try await run.stamp(at: address) == "2")
    try run.running.write("/crash\n")
    let crashed = try await run.next("crashed")
    #expect(crashed.plugins == ["a"] && crashed["signal"]?.string == "SIGSEGV", "\(crashed)")
    #expect(crashed["inFlight"]?.elements.compactMap(\.string) == ["/crash"])
    if !Sanitizer.isOn {
      let report = try #require(crashed["report"], "\(crashed)")
      #expect(report["cause"]?.string == "plugin" && report["call"]?["callback"]?.string == "on_request", "\(report)")
      #expect(report["build"]?["hash"]?.string == hash && report["build"]?["stage"]?.string == "a")
      #expect(report["build"]?["generation"]?.integer == 2 && report["call"]?["transaction"]?.string != nil)
      #expect(report["frames"]?[0]?["function"]?.string == "write_through", "\(report)")
      let kept = try FileTree.readText(try #require(crashed["file"]?.string))
      #expect(kept.contains("write_through") && kept.contains("crashed the process in on_request"), "\(kept)")
    }
    let refused = try await run.next("refused")
    #expect(refused["hash"]?.string == hash && refused["subject"]?.string == "build", "\(refused)")
    let restarted = try await run.next("restarted")
    #expect(restarted["builds"]?[0]?["hash"]?.string != hash)
    #expect(try await run.stamp(at: address) == "1", "the previous build serves, at the same endpoint")

    // Installs the same content again: a new file is renamed into place.
    try StampedLibrary.install(bad, at: run.folder.path("b.so"))
    #expect(rename(run.folder.path("b.so"), run.library) == 0)
    try await run.next("unchanged")
    #expect(try await run.stamp(at: address) == "1")
    // The configuration can still change.
    try run.folder.write(Self.configuration(run.server.baseURL, more: #", "m": {"builtin": "metrics"}"#), to: "c.json")
    try await run.next("restarted")
    #expect(try await run.stamp(at: address) == "1")
    try StampedLibrary.install(mended, at: run.library)
    try await run.next("swapped")
    #expect(try await run.stamp(at: address) == "3")
    try await run.end()
  }

  @Test func `without a previous build, a crashed engine is restarted a limited number of times`() async throws {
    let bad = try await Self.compile(1, crashes: true)
    let mended = try await Self.compile(2, crashes: false)
    let run = try await DevRun(configuration: { Self.configuration($0) }) {
      try StampedLibrary.install(bad, at: $0.path("a.so"))
    }
    try await run.start()
    for _ in 0..<2 {
      try run.running.write("/crash\n")
      try await run.next("crashed")
      try await run.next("restarted")
    }
    try run.running.write("/crash\n")
    try await run.next("crashed")
    let waiting = try await run.next("waiting")
    #expect(waiting["reason"]?.string?.contains("3 times") == true && run.count("refused") == 0, "\(waiting)")
    try StampedLibrary.install(mended, at: run.library)
    try await run.next("restarted")
    #expect(try await run.request()["status"]?.integer == 200)
    try await run.end()
  }

  @Test func `an engine that crashed too often is started again only for a build that works`()
    async throws
  {
    let (bad, mended) = (try await Self.compile(1, crashes: true), try await Self.compile(2, crashes: false))
    let script = """
      what=$(cat source)
      [ "$what" != broken ] && cp "$what" a.new && chmod 755 a.new && mv a.new a.so
      """
    let build = #", "build": {"command": ["sh", "build.sh"], "sources": ["source"]}"#
    let run = try await DevRun(configuration: { Self.configuration($0, build: build) }) { folder in
      try folder.write(script, to: "build.sh")
      try folder.write("bad", to: "source")
      try StampedLibrary.install(bad, at: folder.path("bad"))
      try StampedLibrary.install(mended, at: folder.path("mended"))
    }
    let started = try await run.next("started")
    for _ in 0..<2 {
      try run.running.write("/crash\n")
      try await run.next("crashed")
      try await run.next("restarted")
    }
    try run.running.write("/crash\n")
    try await run.next("crashed")
    try await run.next("waiting")
    try run.folder.write("broken", to: "source")
    try await run.next("build-failed")
    try run.folder.write("mended", to: "source")
    let restarted = try await run.next("restarted")
    #expect(restarted["builds"]?[0]?["hash"] != started["builds"]?[0]?["hash"], "\(restarted)")
    #expect(try await run.request()["status"]?.integer == 200)
    #expect(run.count("restarted") == 3 && run.count("swapped") == 0, "the bad build was not started in between")
    try await run.end()
  }

  @Test(.enabled(if: !Sanitizer.isOn))
  func `a crash report keeps the runtime's message, however much output follows it`() async throws {
    let run = try await DevRun(configuration: { Self.configuration($0) }) {
      try StampedLibrary.install(FileTree.read(BuiltProducts.library("crashes-in-swift")), at: $0.path("a.so"))
    }
    try await run.start()
    try run.running.write("/\n")
    let crashed = try await run.next("crashed")
    #expect(crashed["report"]?["message"]?.string?.contains("Index out of range") == true, "\(crashed)")
    try await run.end()
  }
}
