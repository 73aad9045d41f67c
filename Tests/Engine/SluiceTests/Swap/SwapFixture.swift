import Sluice
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import SluiceTrial

/// An engine whose plugins stamp requests and responses with their build, and a server that echoes the stamps.
final class SwapFixture: EngineFixture {
  let folder: TemporaryDirectory
  let server: LoopbackServer
  let engine: Engine
  let log: Watched<[LogLine]>

  /// - Parameters:
  ///   - plugins: the name of each plugin, with the file name of its library in the folder.
  ///   - swap: the object `swap` of the configuration, as JSON.
  init(
    _ plugins: [(name: String, library: String)] = [("a", "a.so")],
    swap: String = #"{"probation": {"duration": "0s"}}"#,
    loops: Int = 2, trial: (any LibraryTrial)? = nil, stageDeadline: String? = nil, onFault: String? = nil,
    prepare: (TemporaryDirectory) throws -> Void
  ) throws {
    let folder = try TemporaryDirectory()
    self.folder = folder
    try prepare(folder)
    server = try LoopbackServer(recording: .countOnly) { request in
      let stamps = request.headers.filter { $0.name.lowercased().hasPrefix("x-stamp-") }
      return ServerResponse(
        headers: stamps.map { HeaderLine("x-echo-" + $0.name.lowercased().dropFirst(8), $0.value) },
        body: .bytes(Array("ok".utf8)))
    }
    let log = Watched<[LogLine]>([])
    self.log = log
    engine = try Engine(
      Self.configuration(
        plugins, swap: swap, loops: loops, in: folder, stageDeadline: stageDeadline, onFault: onFault), trial: trial
    ) { line in log.update { $0.append(line) } }
  }

  static func configuration(
    _ plugins: [(name: String, library: String)], swap: String = "null", loops: Int = 2, in folder: TemporaryDirectory,
    stageDeadline: String? = nil, onFault: String? = nil, more: String = ""
  ) throws -> Configuration {
    let policy = [("deadline", stageDeadline), ("onFault", onFault)].compactMap { key, value in
      value.map { ", \"\(key)\": \"\($0)\"" }
    }.joined()
    let members = plugins.map { name, library in
      "\"\(name)\": {\"library\": \"\(library)\", \"config\": {\"header\": \"x-stamp-\(name)\"}\(policy)}"
    }
    let names = plugins.map { "\"\($0.name)\"" }.joined(separator: ", ")
    let text = """
      {"plugins": {\(members.joined(separator: ", "))}, "request": [\(names)], "response": [\(names)],
       "swap": \(swap), "transport": {"loops": \(loops)}, "store": "store"\(more)}
      """
    return try Configuration(text: Array(text.utf8), file: folder.path("sluice.json"))
  }

  func path(_ name: String = "a.so") -> String { folder.path(name) }

  var url: HTTPURL { get throws { try HTTPURL(server.baseURL + "/") } }

  /// Sends a request. Returns the build that stamped both the request and the response, or nil if they differ.
  func stamp(of plugin: String = "a") async throws -> Int? {
    let response = try await engine.perform(Request(url: url))
    guard response.headers["x-stamp-\(plugin)"] == response.headers["x-echo-\(plugin)"] else { return nil }
    return response.headers["x-stamp-\(plugin)"].flatMap { Int($0) }
  }

  func shutdown() async {
    await engine.shutdown(drain: .seconds(5))
    server.stop()
  }
}

/// Sends requests without a pause until ``stop()`` is called.
final class SwapLoad: Sendable {
  struct Counts: Sendable {
    var succeeded = 0
    /// The first five failures.
    var failures: [String] = []
    /// How many transactions had request and response stamped by different builds.
    var torn = 0
    var isStopping = false
  }

  let counts = Watched(Counts())
  private let tasks: Task<Void, Never>

  init(_ fixture: SwapFixture, plugins: [String] = ["a"], clients: Int = 8) throws {
    let request = Request(url: try fixture.url)
    let (engine, counts) = (fixture.engine, self.counts)
    tasks = Task {
      await withTaskGroup { group in
        for _ in 0..<clients {
          group.addTask {
            while !counts.value.isStopping {
              let result = await engine.transaction(request)
              Self.count(result, plugins, counts)
            }
          }
        }
      }
    }
  }

  private static func count(_ result: TransactionResult, _ plugins: [String], _ counts: Watched<Counts>) {
    let isTorn = plugins.contains { plugin in
      let stamp = result.response?.headers["x-stamp-\(plugin)"]
      return stamp == nil || stamp != result.response?.headers["x-echo-\(plugin)"]
    }
    counts.update { counts in
      if let error = result.error {
        if counts.failures.count < 5 { counts.failures.append(error.description) }
      } else if isTorn {
        counts.torn += 1
      } else {
        counts.succeeded += 1
      }
    }
  }

  /// Waits for `count` further successes.
  func run(_ count: Int = 20) async throws {
    let target = counts.value.succeeded + count
    try await counts.wait(for: "\(count) more successes") {
      $0.succeeded >= target || !$0.failures.isEmpty || $0.torn > 0
    }
  }

  /// Ends the load, and returns its counts.
  func stop() async -> Counts {
    counts.update { $0.isStopping = true }
    await tasks.value
    return counts.value
  }
}
