import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers

/// A running `sluice run --control` with an open input. Its plugin `a` stamps requests and responses, and the server
/// returns the stamps of the requests.
final class ControlledRun: Sendable {
  let folder: TemporaryDirectory
  let server: LoopbackServer
  let running: RunningCommand
  let socket: String
  let library: StampedLibrary
  private let lines = Watched((written: 0, isStopping: false))

  /// - Parameters:
  ///   - more: further plugins, each with a comma before it.
  ///   - options: further options of the command.
  ///   - environment: further variables of the command.
  ///   - isInFolder: whether the command starts in the folder of the configuration, and gets a relative path.
  init(
    more: String = "", socket: String? = nil, swap: String = #"{"probation": {"duration": "30s"}}"#,
    options: [String] = [], environment: [String: String] = [:], isInFolder: Bool = false
  ) async throws {
    folder = try TemporaryDirectory()
    self.socket = socket ?? folder.path("c.sock")
    library = try await StampedLibrary.inC()
    try library.install(1, at: folder.path("a.so"))
    server = try LoopbackServer(recording: .countOnly) { request in
      ServerResponse(
        headers: [HeaderLine("x-echo-a", request.headers.first("x-stamp-a") ?? "none")], body: .bytes(Array("ok".utf8)))
    }
    let file = try folder.write(Self.configuration(more, swap: swap), to: "c.json")
    running = try Command(
      Tool.path,
      ["run", "-q", "-c", isInFolder ? "./c.json" : file, "--concurrency", "8", "--control", self.socket] + options,
      environment: Tool.cleared.merging(environment) { $1 }, workingDirectory: isInFolder ? folder.path : nil
    ).start()
    try await running.waitForSocket(at: self.socket)
  }

  static func configuration(_ more: String = "", header: String = "x-stamp-a", swap: String = "null") -> String {
    """
    {"plugins": {"a": {"library": "a.so", "config": {"header": "\(header)"}}\(more)},
     "request": ["a"], "response": ["a"], "store": "store", "swap": \(swap), "transport": {"loops": 2}}
    """
  }

  /// Runs `sluice ctl` with this socket.
  func ctl(_ arguments: String...) async throws -> CommandResult {
    try await Command.run(Tool.path, ["ctl"] + arguments + ["--socket", socket], environment: Tool.cleared)
  }

  func status() async throws -> JSONValue {
    let result = try await ctl("status", "--json")
    guard let document = try result.documents.first else { throw TestKitError("no status: \(result.errorText)") }
    return document
  }

  /// Sends one request and waits until it has reached the server.
  func request() async throws {
    let count = server.requestCount
    try running.write(line)
    try await server.waitForRequests(count + 1)
  }

  private var line: String { #"{"url": "\#(server.baseURL)/"}"# + "\n" }

  /// Writes requests without a pause until ``stopFlow()`` is called. The task returns the number of requests.
  func flow() -> Task<Int, any Error> {
    Task.detached { [self] in
      while !lines.value.isStopping {
        try running.write(String(repeating: line, count: 10))
        lines.update { $0.written += 10 }
        await Task.yield()
      }
      return lines.value.written
    }
  }

  func stopFlow() { lines.update { $0.isStopping = true } }

  /// Waits until `count` more requests have reached the server.
  func waitForMore(_ count: Int) async throws { try await server.waitForRequests(server.requestCount + count) }

  /// Ends the input and the run.
  func end() async throws -> CommandResult {
    running.closeInput()
    let result = try await running.wait(upTo: Patience.limit)
    server.stop()
    return result
  }
}

extension JSONValue {
  /// The stamp of a result, or nil if the stamps of its request and its response differ.
  var stamp: Int? {
    let headers = self["response"]?["headers"]
    guard let stamp = headers?["x-stamp-a"]?.string, stamp == headers?["x-echo-a"]?.string else { return nil }
    return Int(stamp)
  }
}

extension RunningCommand {
  /// Waits until an engine listens on the socket.
  func waitForSocket(at path: String) async throws {
    var isListening: Bool { if case .listening = UnixSocket.find(at: path) { true } else { false } }
    guard try await eventually({ isListening || hasEnded }), isListening else {
      throw TestKitError("no socket: \(errorSoFar)")
    }
  }
}
