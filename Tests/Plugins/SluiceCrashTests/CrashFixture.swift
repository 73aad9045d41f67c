import Glibc
import Sluice
import SluiceCrash
import SluicePluginHost
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// A child process that must crash, and the crash record that it leaves.
struct CrashFixture: Sendable {
  /// What the child process runs: a server, an engine with the library as a stage, and requests to the server.
  struct Child: Sendable, Codable {
    /// The path of the record, or nil if the record is written to ``output``.
    var record: String?
    /// The path whose descriptor gets the record. If it is empty, the descriptor is closed before the crash.
    var output: String?
    var library: String
    var folder: String
    var onlyRequests = false
    var requests = 1

    func run() async throws {
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
      try install()
      let server = try LoopbackServer(recording: .countOnly) { _ in ServerResponse(body: .bytes([])) }
      let engine = try Engine(configuration())
      for _ in 0..<requests { _ = try? await engine.perform(Request(url: HTTPURL(server.baseURL + "/"))) }
      await engine.shutdown()
      server.stop()
    }

    private func install() throws {
      if let record { return try CrashReporter.install(path: record) }
      guard let output else { return }
      let descriptor = open(output.isEmpty ? "/dev/null" : output, O_RDWR)
      try CrashReporter.install(descriptor: descriptor, limit: .milliseconds(500))
      if output.isEmpty { close(descriptor) }
    }

    private func configuration() throws -> Configuration {
      let others = onlyRequests ? "" : #""issue": ["victim"], "response": ["victim"], "#
      let text = """
        {"plugins": {"victim": {"library": "\(library)"}}, "request": ["victim"], \(others)
         "store": "\(folder)/store", "transport": {"loops": 1}}
        """
      return try Configuration(text: Array(text.utf8), file: folder + "/sluice.json")
    }
  }

  let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  /// Builds the fixture `crashes` so that it crashes in the given way.
  static func library(_ crash: String) async throws -> PluginCompiler.Product {
    try await PluginCompiler.compile("crashes", defines: ["CRASH=\(crash)"])
  }

  /// The path of the child's record.
  var record: String { folder.path("record") }

  func child(_ library: PluginCompiler.Product) -> Child {
    Child(record: record, library: library.path, folder: folder.path)
  }

  /// Checks that exactly `signal` ends the child, and returns the child's standard error.
  @discardableResult
  func crash(_ child: Child, _ signal: CInt) async -> [UInt8] {
    let result = await #expect(processExitsWith: .signal(signal), observing: [\.standardErrorContent]) {
      [child = child as Child] in try await child.run()
    }
    return result?.standardErrorContent ?? []
  }

  /// Builds the fixture, lets it crash in the given way, and returns the report.
  func report(_ crash: String, _ signal: CInt) async throws -> CrashReport {
    let library = try await Self.library(crash)
    await self.crash(child(library), signal)
    return try report()
  }

  func report() throws -> CrashReport {
    var report = try #require(CrashReport(path: record), "no record was left")
    report.symbolize()
    return report
  }
}

extension CrashReport {
  /// The names of the functions in the plugin's library, the innermost first.
  var pluginFunctions: [String] {
    frames.filter { if case .plugin = $0.owner { true } else { false } }.compactMap(\.function)
  }
}
