import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Canaries of a running command under load, with nginx as the server.
@Suite(.enabled(if: NginxServer.isAvailable)) struct CanaryLoadTests {
  /// A build that is worse than the other, and the words of the reason why its canary ends.
  struct Worse: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let defines: [String]
    let reason: String
  }

  private static let threePercent = Worse(testDescription: "fails 3 %", defines: ["FAILS=30"], reason: "failed ")
  /// The requests take about 20 ms.
  private static let others = [
    Worse(testDescription: "fails 1 %", defines: ["FAILS=10"], reason: "failed "),
    Worse(
      testDescription: "is 20 % slower", defines: ["DELAYED=1000", "DELAY_US=4000"], reason: "had a median of "),
    Worse(testDescription: "has a tail", defines: ["DELAYED=20", "DELAY_US=200000"], reason: "slower than "),
    Worse(testDescription: "suspends for ever", defines: ["SUSPENDED=1000"], reason: "failed "),
  ]
  static let cases = Tool.isSoak ? [threePercent] + others : [threePercent]

  @Test(arguments: cases)
  func `a build that is worse is stopped, and no more than its share of requests met it`(_ worse: Worse) async throws {
    let scene = try await Scene(steps: "[10]")
    try await scene.install(worse.defines)
    #expect(try await scene.ctl("swap").status == 0)
    let watch = try Tool.start("ctl", "canary", "--watch", "--socket", scene.socket)
    let flow = scene.flow()
    let end = try await watch.wait(upTo: .seconds(300))
    #expect(end.status == 1 && end.outputText.contains(worse.reason), "\(end)")
    let status = try await scene.ctl("canary", "--json").documents.first
    let last = status?["history"].flatMap { Array($0.elements).last }
    let reason = try #require(last?["reason"]?.string)
    let (results, written) = try await scene.end(flow)
    #expect(results.count == written)
    // The reason names the candidate's requests until the end: `failed 22 of 104 against …`.
    let failed = results.count { $0["error"] != nil }
    if let met = reason.split(separator: " ").dropFirst(3).first.flatMap({ word in Int(word.filter { $0.isNumber }) }),
      worse.reason == "failed "
    {
      // Requests that began before the end can fail after it.
      #expect(failed <= met + 200, "\(failed) failed: \(reason)")
      #expect(Double(met) < 0.1 * Double(written) * 1.5 + 50, "\(reason), of \(written)")
    } else {
      #expect(failed == 0)
    }
  }

  /// With a canary, both arms see the same server. Probation compares with the time before.
  @Test(.enabled(if: Tool.isSoak), arguments: [true, false])
  func `a server that begins to fail does not end a canary, but a probation`(_ isCanary: Bool) async throws {
    let scene = try await Scene(steps: "[50]")
    try await scene.install([])
    let flow = scene.flow()
    try await scene.waitForRequests(2000)
    #expect(try await scene.ctl("swap", isCanary ? "--hold=1h" : "--now").status == 0)
    scene.isFailing.update { $0 = true }
    if isCanary {
      let isCompared = try await eventually(upTo: .seconds(300)) {
        let canary = try await scene.ctl("canary", "--json").documents.first?["canary"]
        guard let canary else { throw TestKitError("the canary has ended") }
        return (canary["nextLook"]?.integer ?? 0) > 1600
      }
      #expect(isCompared)
      #expect(try await scene.ctl("promote").status == 0)
    } else {
      let isBack = try await eventually(upTo: .seconds(300)) {
        let history = try await scene.ctl("status", "--json").documents.first?["history"]
        return history.flatMap { Array($0.elements).last }?["outcome"]?.string == "rolled-back"
      }
      #expect(isBack)
    }
    let (results, written) = try await scene.end(flow)
    #expect(results.count == written && results.allSatisfy { $0.status == 200 || $0.status == 503 })
    #expect(results.count { $0.status == 503 } > 100)
  }

  @Test func `without requests, a step lasts on and says so`() async throws {
    let scene = try await Scene(steps: "[10, 50]")
    try await scene.install([])
    #expect(try await scene.ctl("swap", "--canary=10,50", "--hold=0s").status == 0)
    let isHeld = try await eventually {
      try await scene.ctl("canary").outputText.contains("held: the candidate has had 0 of the 400 requests of a step")
    }
    #expect(isHeld)
    let (_, written) = try await scene.end(nil)
    #expect(written == 0)
  }
}

/// A running `sluice run` whose requests go through nginx to a server that takes about 20 ms.
private final class Scene: Sendable {
  private let folder: TemporaryDirectory
  private let server: EmbeddedServer
  private let nginx: NginxServer
  private let running: RunningCommand
  private let lines = Watched((written: 0, isStopping: false))
  /// Whether the server answers a fifth of the requests with 503.
  let isFailing: Watched<Bool>
  var socket: String { folder.path("c.sock") }

  init(steps: String) async throws {
    folder = try TemporaryDirectory()
    let isFailing = Watched(false)
    self.isFailing = isFailing
    let echo = EchoHandler()
    server = try EmbeddedServer { request in
      if isFailing.value, Int.random(in: 0..<5) == 0 { return ServerResponse(status: 503) }
      return echo.respond(to: request)
    }
    var configuration = NginxConfiguration()
    configuration.bigFileBytes = 0
    configuration.extraDirectives =
      "location /delay/ { proxy_pass \(server.baseURL); proxy_http_version 1.1; proxy_set_header Connection \"\"; }"
    nginx = try await NginxServer.start(configuration)
    try StampedLibrary.install(try await Self.build([]), at: folder.path("a.so"))
    let file = try folder.write(
      """
      {"plugins": {"a": {"library": "a.so", "deadline": "300ms"}}, "request": ["a"], "store": "store",
       "swap": {"canary": {"steps": \(steps), "hold": "1h"}, "probation": {"duration": "60s", "transactions": 400}},
       "transport": {"loops": 2}, "retry": {"maxAttempts": 1}}
      """, to: "c.json")
    running = try Tool.start("run", "-q", "-c", file, "--concurrency", "64", "--control", folder.path("c.sock"))
    try await running.waitForSocket(at: folder.path("c.sock"))
  }

  private static func build(_ defines: [String]) async throws -> [UInt8] {
    let product = try await PluginCompiler.compile("worse", defines: defines)
    return try withExtendedLifetime(product) { try FileTree.read(product.path) }
  }

  /// Writes the new build to the path of the library. It differs from the old build in any case.
  func install(_ defines: [String]) async throws {
    try StampedLibrary.install(try await Self.build(defines + ["BUILD=2"]), at: folder.path("a.so"))
  }

  func ctl(_ arguments: String...) async throws -> CommandResult {
    try await Tool.run(arguments: ["ctl"] + arguments + ["--socket", socket])
  }

  /// Writes requests without a pause, with delays around 20 ms. The task returns the number of requests.
  func flow() -> Task<Int, any Error> {
    Task.detached { [self] in
      while !lines.value.isStopping {
        let delays = (0..<20).map { _ in Int.random(in: 12...18) + Int.random(in: 0...8) }
        try running.write(delays.map { #"{"url": "\#(nginx.baseURL)/delay/\#($0)ms"}"# + "\n" }.joined())
        lines.update { $0.written += delays.count }
        await Task.yield()
      }
      return lines.value.written
    }
  }

  func waitForRequests(_ count: Int) async throws {
    try await lines.wait(upTo: Patience.limit, for: "\(count) requests") { $0.written >= count }
  }

  /// Ends the flow, the run and the servers. Returns the results and the number of requests.
  func end(_ flow: Task<Int, any Error>?) async throws -> (results: [JSONValue], written: Int) {
    lines.update { $0.isStopping = true }
    let written = try await flow?.value ?? 0
    running.closeInput()
    let result = try await running.wait(upTo: Patience.limit)
    try await nginx.stop()
    server.stop()
    return (try result.documents, written)
  }
}
