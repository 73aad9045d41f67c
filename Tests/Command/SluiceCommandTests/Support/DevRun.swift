import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers

/// A running `sluice dev --json`. Its plugin `a` in C stamps requests and responses, and the server returns the stamps
/// of the requests.
final class DevRun: Sendable {
  let folder: TemporaryDirectory
  let server: LoopbackServer
  let running: RunningCommand
  /// The number of events that ``next(_:where:)`` has returned or skipped so far.
  private let cursor = Watched(0)

  /// - Parameters:
  ///   - prepare: writes the files that the command needs at its start into the folder.
  ///   - configuration: the content of `c.json`, given the URL of the server.
  init(
    _ arguments: String..., configuration: @Sendable (String) -> String = { DevRun.configuration($0) },
    prepare: @Sendable (TemporaryDirectory) async throws -> Void
  ) async throws {
    folder = try TemporaryDirectory()
    try await prepare(folder)
    server = try LoopbackServer(recording: .countOnly) { request in
      let stamp = request.headers.first("x-stamp-a") ?? "none"
      return ServerResponse(headers: [HeaderLine("x-echo-a", stamp)], body: .bytes(Array(stamp.utf8)))
    }
    let file = try folder.write(configuration(server.baseURL), to: "c.json")
    running = try Command(
      Tool.path, ["dev", "--json", "-c", file] + arguments, environment: Self.environment(folder)
    ).start()
  }

  /// - Parameter temporary: the folder to use in place of `/tmp`.
  static func environment(_ folder: TemporaryDirectory, temporary: String? = nil) -> [String: String?] {
    var own: [String: String?] = ["XDG_RUNTIME_DIR": folder.path, "XDG_STATE_HOME": folder.path]
    if let temporary { own["TMPDIR"] = temporary }
    return Tool.cleared.merging(own) { $1 }
  }

  static func configuration(
    _ url: String, plugin: String = #""library": "a.so", "config": {"header": "x-stamp-a"}"#, more: String = "",
    transport: String = ""
  ) -> String {
    """
    {"plugins": {"a": {\(plugin)}\(more)}, "request": ["a"], "response": ["a"], "store": "store",
     "transport": {"baseURL": "\(url)"\(transport)}}
    """
  }

  /// A run with the first build of a stamping library at `a.so`.
  static func stamped(_ arguments: String...) async throws -> (run: DevRun, library: StampedLibrary) {
    let library = try await StampedLibrary.inC()
    let run = try await DevRun(arguments: arguments) { try library.install(1, at: $0.path("a.so")) }
    return (run, library)
  }

  private convenience init(
    arguments: [String], prepare: @Sendable (TemporaryDirectory) async throws -> Void
  ) async throws {
    switch arguments.count {
    case 0: try await self.init(prepare: prepare)
    case 1: try await self.init(arguments[0], prepare: prepare)
    default: try await self.init(arguments[0], arguments[1], prepare: prepare)
    }
  }

  deinit { server.stop() }

  var library: String { folder.path("a.so") }

  // MARK: Events

  /// The lines that a session logs while three requests go through the plugin at this path.
  static func log(of library: String) async throws -> [String] {
    let run = try await DevRun(
      configuration: {
        #"{"plugins": {"a": {"library": "\#(library)"}}, "request": ["a"], "transport": {"baseURL": "\#($0)"}}"#
      }, prepare: { _ in })
    try await run.start()
    for _ in 0..<3 { try await run.request() }
    let log = run.events.filter { $0["event"]?.string == "log" }.compactMap { $0["message"]?.string }
    try await run.end()
    return log
  }

  /// All events so far.
  var events: [JSONValue] { Self.events(Array(running.outputSoFar.utf8)) }

  private static func events(_ output: [UInt8]) -> [JSONValue] {
    // The last piece is empty or an incomplete line.
    output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
      .compactMap { try? JSONValue(parsing: $0) }
  }

  /// Waits for the next event with this name, and skips the events before it.
  @discardableResult
  func next(_ name: String, where isMeant: @escaping @Sendable (JSONValue) -> Bool = { _ in true }) async throws
    -> JSONValue
  {
    let index = try await wait(for: name, from: cursor.value, where: isMeant)
    cursor.update { $0 = index + 1 }
    return events[index]
  }

  /// Waits for an event with this name, before or after the current position.
  func find(_ name: String, where isMeant: @escaping @Sendable (JSONValue) -> Bool) async throws {
    _ = try await wait(for: name, from: 0, where: isMeant)
  }

  private func wait(
    for name: String, from: Int, where isMeant: @escaping @Sendable (JSONValue) -> Bool
  ) async throws -> Int {
    let found: @Sendable ([UInt8]) -> Int? = { output in
      Self.events(output).dropFirst(from).firstIndex { $0["event"]?.string == name && isMeant($0) }
    }
    do { try await running.waitForOutput("the event \(name)") { found($0) != nil } } catch {
      throw TestKitError("\(error); events:\n\(running.outputSoFar)\n\(running.errorSoFar)")
    }
    guard let index = found(Array(running.outputSoFar.utf8)) else { throw TestKitError("no event \(name)") }
    return index
  }

  /// The number of events with this name so far.
  func count(_ name: String) -> Int { events.count { $0["event"]?.string == name } }

  // MARK: Requests

  /// Writes a request to the command's standard input, and returns its event.
  @discardableResult
  func request(_ line: String = "/") async throws -> JSONValue {
    try running.write(line + "\n")
    return try await next("request")
  }

  /// Sends a request to the endpoint of `--listen`, and returns the stamp, which is the body of the response.
  func stamp(at address: String) async throws -> String {
    try await Command.check("curl", ["-sS", "http://\(address)/"]).outputText
  }

  /// Waits until the session has started, and returns the address of the endpoint.
  @discardableResult
  func start() async throws -> String { try await next("started")["listen"]?.string ?? "" }

  // MARK: The end

  /// Ends the command as Ctrl-C does.
  @discardableResult
  func end() async throws -> CommandResult {
    running.send(signal: SIGINT)
    return try await running.wait(upTo: Patience.limit)
  }
}

extension JSONValue {
  var plugins: [String] { self["plugins"]?.elements.compactMap(\.string) ?? [] }
}
