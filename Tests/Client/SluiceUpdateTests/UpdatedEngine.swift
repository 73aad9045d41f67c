import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceUpdate
import SluiceUpdateRules

/// A machine that installs releases, with its own configuration, folder and clock.
final class UpdatedMachine: Sendable {
  let releases: ReleaseServer
  let files: TemporaryDirectory
  /// How many seconds the machine's clock is ahead.
  let clockError = Locked<Int64>(0)
  /// The lines that its updaters log.
  let lines = Watched<[String]>([])

  /// The URL of the repository or of a mirror.
  private let url: String

  /// - Parameter url: the URL of a mirror, or nil to use the server itself.
  init(_ releases: ReleaseServer, url: String? = nil) throws {
    self.releases = releases
    self.url = url ?? releases.url
    files = try TemporaryDirectory()
    try files.write(try FileTree.readText(releases.rootFile), to: "root.json")
  }

  /// The text of the machine's configuration.
  private var text: String {
    """
    {"update": {"url": "\(url)", "root": "root.json", "folder": "installed", "every": "0s"},
     "plugins": {"stamp": {"release": "stamp"}}, "request": ["stamp"], "store": "store",
     "transport": {"loops": 1}, "retry": {"maxAttempts": 1},
     "swap": {"trial": "0s", "probation": {"duration": "1h", "transactions": 10}}}
    """
  }

  /// Writes the configuration for the command, and returns its path.
  func configurationFile() throws -> String { try files.write(text, to: "sluice.json") }

  /// - Parameter change: changes members of the configuration.
  func configuration(_ change: (inout Configuration) -> Void = { _ in }) throws -> Configuration {
    var configuration = try Configuration(text: Array(text.utf8), file: files.path("sluice.json"))
    change(&configuration)
    return configuration
  }

  func updater(
    limits: MirrorLimits = MirrorLimits(), _ change: (inout Configuration) -> Void = { _ in }
  ) throws -> Updater {
    try Updater(
      try configuration(change), trial: nil, verifier: Ed25519Verifier(),
      clock: { [clockError] in
        UpdateMoment(seconds: Updater.now().seconds + clockError.withLock { $0 })
      }, limits: limits
    ) { [lines] line in lines.update { $0.append(line.message) } }
  }

  /// Returns the status as `sluice update status` shows it.
  func status() throws -> JSONValue { try updater().status() }

  /// Waits until the updater has logged the event.
  func wait(for event: String) async throws {
    try await lines.wait(for: event) { lines in lines.contains { $0.contains(" \(event): ") } }
  }

  func path(_ name: String) -> String { files.path("installed/\(name)") }
}

/// An engine that follows releases, and a server whose response names the build that handled the request.
final class UpdatedEngine: Sendable {
  let updater: Updater
  let engine: Engine
  private let echo: EmbeddedServer

  private init(_ updater: Updater, _ engine: Engine, _ echo: EmbeddedServer) {
    (self.updater, self.engine, self.echo) = (updater, engine, echo)
  }

  /// Runs the body with an engine on the machine, and then ends the engine.
  static func run<Value>(
    on machine: UpdatedMachine, limits: MirrorLimits = MirrorLimits(),
    _ change: (inout Configuration) -> Void = { _ in },
    _ body: (UpdatedEngine) async throws -> Value
  ) async throws -> Value {
    let updater = try machine.updater(limits: limits, change)
    let engine = try Engine(try await updater.prepare())
    updater.follow(engine)
    let echo = try EmbeddedServer { request in
      .text(request.headers.first { $0.name.lowercased() == "x-build" }?.value ?? "none")
    }
    let running = UpdatedEngine(updater, engine, echo)
    return try await withCleanup {
      await engine.shutdown(drain: .zero)
    } _: {
      try await body(running)
    }
  }

  /// Sends a request, and returns the name of the build that handled it.
  func build(_ path: String = "") async throws -> String {
    let response = try await engine.perform(Request(url: HTTPURL("\(echo.baseURL)/\(path)")))
    return String(decoding: response.body.bytes ?? [], as: UTF8.self)
  }

  /// Sends a request. Returns its error code, or nil if it succeeds.
  func failure() async -> ErrorCode? {
    do {
      _ = try await build()
      return nil
    } catch { return (error as? TransactionFailure)?.error.code }
  }
}
