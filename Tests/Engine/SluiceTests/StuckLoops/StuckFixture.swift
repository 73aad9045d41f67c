import Glibc
import Sluice
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers

/// An engine with short time limits, and with a stage that does not return if a request asks for this.
final class StuckFixture: EngineFixture {
  let folder: TemporaryDirectory
  let server: LoopbackServer
  let engine: Engine
  let log = Watched<[LogLine]>([])
  private let library: StampedLibrary

  /// - Parameters:
  ///   - abandon: how long a loop must be stuck before its transactions are ended.
  ///   - deadline: the deadline of each transaction.
  ///   - besides: the fixture that is a second plugin, `b`; nil means none.
  ///   - isSerial: whether the stage is SERIAL, and a tracer too.
  init(
    loops: Int, probation: String = "0s", abandon: String = "1h", deadline: String = "1h", besides: String? = nil,
    isSerial: Bool = false
  ) async throws {
    folder = try TemporaryDirectory()
    let gate = folder.path("gate")
    guard mkfifo(gate, 0o600) == 0 else { throw TestKitError("mkfifo: \(errno)") }
    let product = try await PluginCompiler.compile(
      "never-returns", defines: ["GATE=\"\(gate)\""] + (isSerial ? ["SERIAL"] : []))
    library = try withExtendedLifetime(product) { try StampedLibrary(FileTree.read(product.path)) }
    try library.install(1, at: folder.path("a.so"))
    server = try LoopbackServer(recording: .countOnly)
    var plugins = #""a": {"library": "a.so"}"#
    if let besides {
      let product = try await PluginCompiler.compile(besides)
      let bytes = try withExtendedLifetime(product) { try FileTree.read(product.path) }
      try folder.write(bytes, to: "b.so")
      plugins += #", "b": {"library": "b.so"}"#
    }
    let text = """
      {"plugins": {\(plugins)}, "request": ["a"], "response": ["a"], "tracers": [\(isSerial ? #""a""# : "")],
       "store": "store",
       "transport": {"loops": \(loops)}, "watchdog": {"limit": "20ms", "abandon": "\(abandon)"},
       "swap": {"publish": "100ms", "drain": "20ms", "probation": {"duration": "\(probation)"}},
       "deadline": "\(deadline)"}
      """
    let log = self.log
    engine = try Engine(Configuration(text: Array(text.utf8), file: folder.path("sluice.json"))) { line in
      log.update { $0.append(line) }
    }
  }

  func install(_ number: Int) throws { try library.install(number, at: folder.path("a.so")) }

  func request(trap: String? = nil) throws -> Request {
    var request = Request(url: try HTTPURL(server.baseURL + "/"))
    if let trap { request.headers.append("x-trap", trap) }
    return request
  }

  /// Starts a transaction whose stage does not return and so blocks one of the loops.
  func trapped(_ trap: String = "gate", cancellation: Cancellation? = nil) async throws -> Watched<[TransactionResult]>
  {
    let results = Watched<[TransactionResult]>([])
    let count = log.value.count { $0.message == "trapped=1" }
    engine.submit(try request(trap: trap), cancellation: cancellation) { result in results.update { $0.append(result) }
    }
    try await log.wait(for: "the trap") { lines in lines.count { $0.message == "trapped=1" } > count }
    return results
  }

  /// Sends a request, and returns the number of the build that stamped it.
  func stamp() async throws -> Int? {
    let result = await engine.transaction(try request())
    return result.response?.headers["x-stamp-a"].flatMap { Int($0) }
  }

  /// Sends requests until one is stamped. With a short `abandon`, some requests fail on a slow machine.
  func waitForStamp() async throws {
    let end = ContinuousClock.now + Patience.limit
    while try await stamp() == nil {
      guard ContinuousClock.now < end else { throw TestKitError("no request was stamped within \(Patience.limit)") }
    }
  }

  /// The number of calls of scheduled work so far.
  func runs(of name: String) -> Int {
    engine.schedules.filter { $0.name == name }.reduce(0) { $0 + $1.counts.values.reduce(0, +) }
  }

  /// Lets the stage return. The stage has opened the FIFO for reading, so this call does not wait.
  func openGate() throws {
    let end = open(folder.path("gate"), O_WRONLY | O_CLOEXEC)
    guard end >= 0 else { throw TestKitError("open: \(errno)") }
    close(end)
  }
}
