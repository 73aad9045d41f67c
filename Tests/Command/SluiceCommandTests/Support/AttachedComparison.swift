import Glibc
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// One program, run without and with `sluice attach`, against one server that shows each request in its response.
struct AttachedComparison {
  static let tracing = #"""
    {"plugins": {"h": {"builtin": "headers", "config": {"hosts": ["127.0.0.1"], "propagators": ["tracecontext"]}}},
     "issue": ["h"]}
    """#

  let plain: CommandResult
  let attached: CommandResult
  let plainRequests: [ServerRequest]
  let attachedRequests: [ServerRequest]

  /// - Parameters:
  ///   - words: returns the program and its arguments. It gets the server's URL, without a slash at the end.
  ///   - setUp: shell commands that the second run executes before the program. `$F` is the folder of `sluice attach`.
  static func run(
    _ words: (_ url: String) -> [String], configuration: String = tracing, environment: [String: String?] = [:],
    setUp: String? = nil, tool: String = Tool.path
  ) async throws -> AttachedComparison {
    let folder = try TemporaryDirectory()
    let file = try folder.write(configuration, to: "sluice.json")
    let server = try LoopbackServer(handler: answer)
    defer { server.stop() }
    let words = words(server.baseURL)
    let environment = Tool.cleared.merging(environment) { $1 }
    let plain = try await Command.run(words[0], Array(words.dropFirst()), environment: environment)
    let count = server.requestCount
    let shell = setUp.map { ["sh", "-ec", "F=${SLUICE_ATTACH#*:*:}\n\($0)\nexec \"$@\"", "sh"] } ?? []
    let attached = try await Command.run(
      tool, ["attach", "-c", file, "--"] + shell + words, environment: environment)
    return AttachedComparison(
      plain: plain, attached: attached, plainRequests: Array(server.requests.prefix(count)),
      attachedRequests: Array(server.requests.dropFirst(count)))
  }

  /// For each request of the second run, whether it had trace headers.
  var isTraced: [Bool] { attachedRequests.map { $0.headers.first("traceparent") != nil } }
  var tracedCount: Int { isTraced.count { $0 } }

  /// The messages of `sluice attach` about transfers without the pipeline, such as `1 transfer …: REASON`.
  var passed: [Substring] {
    attached.errorText.split(separator: "\n").filter { $0.hasPrefix("sluice: attach: ") }
      .map { $0.dropFirst("sluice: attach: ".count) }
  }

  /// Checks that the program did the same in both runs.
  func expectSame(_ location: SourceLocation = #_sourceLocation) {
    #expect(attached.outputText == plain.outputText, sourceLocation: location)
    #expect(attached.ending == plain.ending, "\(attached.errorText)", sourceLocation: location)
    let errors = attached.errorText.split(separator: "\n").filter { !$0.hasPrefix("sluice: attach: ") }
    #expect(errors == plain.errorText.split(separator: "\n"), sourceLocation: location)
    #expect(attachedRequests.count == plainRequests.count, sourceLocation: location)
  }

  /// Like ``expectSame``. In addition, each request of the second run must have one `traceparent`.
  func expectSameButTraced(_ location: SourceLocation = #_sourceLocation) {
    expectSame(location)
    for request in attachedRequests {
      let lines = request.headers.filter { $0.name.lowercased() == "traceparent" }
      #expect(lines.count == 1, "\(request.method) \(request.target)", sourceLocation: location)
    }
    #expect(passed.isEmpty, sourceLocation: location)
  }

  /// Like ``expectSame``. In addition, no request may have trace headers, and the reason must be the same for all
  /// requests.
  func expectSameAndPassed(_ count: Int, _ reason: String, _ location: SourceLocation = #_sourceLocation) {
    expectSame(location)
    #expect(tracedCount == 0, sourceLocation: location)
    #expect(
      passed.count == 1 && passed[0].hasPrefix("\(count) ") && passed[0].contains(reason), "\(passed)",
      sourceLocation: location)
  }

  /// Answers with the parts of the request that are the same in both runs.
  private static let answer: @Sendable (ServerRequest) -> ServerResponse = { request in
    if request.path == "/redirect" {
      return ServerResponse(status: 302, headers: [HeaderLine("Location", "/after")])
    }
    let hidden = ["host", "traceparent", "x-request-id", "content-type", "content-length"]
    let lines = request.headers.filter { !hidden.contains($0.name.lowercased()) }.map { "\($0.name): \($0.value)\n" }
    let isForm = request.headers.first("content-type")?.contains("boundary") ?? false
    let body = isForm ? "a form" : String(decoding: request.body, as: UTF8.self)
    return .text("\(request.method) \(request.target)\n\(lines.joined())\(body)\n")
  }
}
