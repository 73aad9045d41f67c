import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers

/// A server, and a configuration for programs that run under `sluice attach`. It sets `X-C` once for each transfer, and
/// trace headers for each hop to 127.0.0.1.
final class AttachFixture {
  let folder: TemporaryDirectory
  let server: LoopbackServer
  let configuration: String

  static let plugins = """
    "trace": {"builtin": "headers", "config": {"hosts": ["127.0.0.1"], "propagators": ["tracecontext"]}},
    "fixed": {"library": "\(BuiltProducts.library("static-headers"))", "config": {"request": {"X-C": "plugin"}}}
    """

  /// - Parameters:
  ///   - more: further plugins, each with a comma before it.
  ///   - stages: the lists of the configuration.
  ///   - answer: the server's answer to a request. It must not depend on the request's headers.
  init(
    more: String = "", stages: String = #""request": ["fixed"], "issue": ["trace"]"#,
    answer: @escaping @Sendable (ServerRequest) -> ServerResponse = { .text("answer to \($0.method) \($0.target)\n") }
  ) throws {
    folder = try TemporaryDirectory()
    try folder.makeFolder("events")
    server = try LoopbackServer(handler: answer)
    configuration = try folder.write("{\"plugins\": {\(Self.plugins)\(more)}, \(stages)}", to: "c.json")
  }

  deinit { server.stop() }

  /// Whether Debian's package python3-pycurl is installed. Only Debian's own Python finds it.
  static let hasPycurl = FileTree.names(in: "/usr/lib/python3/dist-packages").contains { $0.hasPrefix("pycurl.") }

  var url: String { server.baseURL }
  /// Another URL of the same server. Its origin is not listed in the configuration.
  var otherURL: String { "http://localhost:\(server.port)" }

  /// Runs a program without `sluice attach`.
  func run(_ words: [String], input: [UInt8] = [], environment: [String: String?] = [:]) async throws -> CommandResult {
    try await Command.run(
      words[0], Array(words.dropFirst()), environment: Self.environment(environment), standardInput: input,
      workingDirectory: folder.path)
  }

  /// Runs a program under `sluice attach`.
  func attach(
    _ words: [String], options: [String] = [], input: [UInt8] = [], environment: [String: String?] = [:]
  ) async throws -> CommandResult {
    try await run(
      [Tool.path, "attach", "-c", configuration] + options + ["--"] + words, input: input, environment: environment)
  }

  private static func environment(_ more: [String: String?]) -> [String: String?] {
    Tool.cleared.merging(["SLUICE_DISABLE": nil, "SLUICE_ATTACH": nil, "LD_PRELOAD": nil]) { $1 }.merging(more) { $1 }
  }

  /// Runs the program without `sluice attach` and then with it. Output and exit status must be the same.
  ///
  /// - Returns: the requests of the second run.
  func compare(
    _ words: [String], input: [UInt8] = [], environment: [String: String?] = [:]
  ) async throws -> [ServerRequest] {
    let start = server.requestCount
    let plain = try await run(words, input: input, environment: environment)
    let middle = server.requestCount
    let attached = try await attach(
      words, options: ["--events", folder.path("events")], input: input, environment: environment)
    guard attached.ending == plain.ending, attached.standardOutput == plain.standardOutput,
      attached.standardError == plain.standardError
    else {
      throw TestKitError(
        """
        \(words) differs:
        by itself \(plain.ending): \(plain.outputText)\(plain.errorText)
        attached \(attached.ending): \(attached.outputText)\(attached.errorText)
        """)
    }
    let requests = Array(server.requests.dropFirst(middle))
    guard requests.count == middle - start else {
      throw TestKitError("\(words) made \(middle - start) requests by itself, and \(requests.count) attached")
    }
    return requests
  }

  /// Returns the number of transactions in the event logs. Throws if a log breaks a rule of the ledger.
  func verifiedTransactions() async throws -> Int {
    var count = 0
    for name in FileTree.names(in: folder.path("events")) {
      let result = try await Tool.run("verify-trace", "--json", folder.path("events/\(name)"))
      guard result.status == 0, let number = try result.documents.first?["transactions"]?.integer else {
        throw TestKitError("\(name): \(result.outputText)\(result.errorText)")
      }
      count += Int(number)
    }
    return count
  }
}

/// The ids in a `traceparent`.
struct TraceIDs: Hashable {
  let trace: String
  let span: String

  /// Returns nil if the request has no such header.
  init?(_ request: ServerRequest) { self.init(request.headers.first("traceparent")) }

  init?(_ text: String?) {
    guard let parts = text?.split(separator: "-"), parts.count == 4 else { return nil }
    trace = String(parts[1])
    span = String(parts[2])
  }
}

extension [ServerRequest] {
  /// The ids of the requests that have a `traceparent`.
  var traceIDs: [TraceIDs] { compactMap { TraceIDs($0) } }

  /// Returns one element for each request: the values of the header, joined, or nil if the request does not have it.
  func each(_ name: String) -> [String?] {
    map { request in
      let values = request.headers.values(of: name)
      return values.isEmpty ? nil : values.joined(separator: " | ")
    }
  }
}
