import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Synchronization
import Testing

@testable import SluiceCommand

/// `sluice bench` against a real server. No test depends on speed.
@Suite struct BenchTests {
  private static func pipeline(_ folder: TemporaryDirectory) throws -> String {
    try folder.write(
      """
      {"plugins": {"stamp": {"library": "\(BuiltProducts.library("static-headers"))",
                             "config": {"request": {"x-stamp": "yes"}}}},
       "request": ["stamp"]}
      """, to: "pipeline.json")
  }

  @Test func `bench sends the warm-up and every round twice: through the pipeline and without its stages`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try Self.pipeline(folder)
    let result = try await Tool.run(
      "bench", "-c", file, "-n", "40", "--rounds", "3", "--connections", "4", server.baseURL + "/a?b=c")
    #expect(result.status == 0, "\(result.errorText)")
    #expect(result.errorText.isEmpty)
    // 10 warm-up requests and 3 × 40 requests, with the stages and without them.
    #expect(server.requests.count == 260)
    #expect(server.requests.allSatisfy { $0.target == "/a?b=c" })
    #expect(server.requests.filter { $0.headers.first("x-stamp") == "yes" }.count == 130)
    let lines = result.outputText.split(separator: "\n")
    #expect(lines[0] == "GET \(server.baseURL)/a?b=c: 3 rounds of 40 requests, 4 at a time")
    #expect(lines.contains { $0.hasPrefix("pipeline ") })
    #expect(lines.contains { $0.hasPrefix("without stages ") })
    #expect(lines.contains { $0.hasPrefix("The stages cost ") && $0.hasSuffix(" of processor time per request.") })
    #expect(lines.contains { $0.hasPrefix("request stamp ") })
  }

  @Test(arguments: [nil, "", "a.test b.test", "*"])
  func `the requests to the server of the command itself use no proxy`(_ direct: String?) async throws {
    let result = try await Tool.run(
      "bench", "-n", "8", "--rounds", "2", environment: ["http_proxy": "http://127.0.0.1:1", "no_proxy": direct])
    #expect(result.status == 0, "\(result.errorText)")
  }

  @Test func `a cost whose lowest value is not above 0 is not taken for a measurement`() {
    #expect(BenchReport.lines(of: BenchSpread([1e-6, 2e-6])).count == 1)
    for values in [[-1e-6, 2e-6], [-2e-6, -1e-6], [0]] {
      let lines = BenchReport.lines(of: BenchSpread(values))
      #expect(lines.count == 2 && lines[1].contains("use more requests (-n) or --rounds"), "\(lines)")
    }
  }

  @Test func `the JSON document has the times with and without stages, the cost and the stages`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let result = try await Tool.run(
      "bench", "--document", "-c", try Self.pipeline(folder), "-n", "8", "--rounds", "2", server.baseURL)
    #expect(result.status == 0, "\(result.errorText)")
    let document = try #require(try result.documents.first)
    #expect(document["requests"]?.integer == 8)
    #expect(document["rounds"]?.integer == 2)
    #expect(document["isWhole"]?.bool == true)
    for side in ["pipeline", "withoutStages"] {
      for name in ["requestsPerSecond", "processorTime"] {
        #expect(document[side]?[name]?["median"]?.number ?? 0 > 0, "\(side) \(name)")
      }
      #expect(document[side]?["duration"]?["p99"]?.number ?? 0 > 0, "\(side)")
    }
    #expect(document["cost"]?["processorTime"]?["median"]?.number != nil)
    let stage = try #require(document["stages"]?[0])
    #expect(stage["name"]?.string == "stamp")
    #expect(stage["phase"]?.string == "request")
    // 2 requests of the warm-up, and 2 rounds of 8.
    #expect(stage["calls"]?.integer == 18)
  }

  @Test func `the options set the method, the headers and the data of the request`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Tool.run(
      "bench", "-n", "4", "--rounds", "1", "-X", "PUT", "-H", "X-A: 1", "-d", "a=b", server.baseURL)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(server.requests.allSatisfy { $0.method == "PUT" && $0.headers.first("x-a") == "1" })
    #expect(server.requests.allSatisfy { String(decoding: $0.body, as: UTF8.self) == "a=b" })
    #expect(result.outputText.contains("The pipeline has no stages."))
  }

  @Test func `without a URL, bench starts its own server`() async throws {
    let result = try await Tool.run("bench", "-n", "4", "--rounds", "1")
    #expect(result.status == 0, "\(result.errorText)")
    #expect(result.outputText.hasPrefix("GET http://127.0.0.1:"))
  }

  @Test func `bench sends all requests even if a stage answers them itself`() async throws {
    let folder = try TemporaryDirectory()
    let library = try await PluginCompiler.compile("answers")
    let file = try folder.write(
      #"{"plugins": {"answers": {"library": "\#(library.path)"}}, "request": ["answers"]}"#, to: "pipeline.json")
    let result = try await Tool.run(
      "bench", "--document", "-c", file, "-H", "x-answer: respond", "-n", "2000", "--rounds", "1")
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try result.documents.first?["stages"]?[0]?["calls"]?.integer == 2500)
  }

  @Test func `if requests fail, bench ends and reports the first failure`() async throws {
    let server = try LoopbackServer { _ in ServerResponse(status: 404) }
    defer { server.stop() }
    let result = try await Tool.run("bench", "-n", "8", server.baseURL)
    #expect(result.status == 1)
    #expect(result.outputText.isEmpty)
    #expect(result.errorText.contains("bench: 2 of 2 requests failed; the first: http_status"))
  }

  @Test func `an interrupt ends bench, even if no request is answered`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let running = try Tool.start("bench", "-n", "4", server.baseURL)
    try await server.waitForRequests(1)
    running.send(signal: 2)
    let result = try await running.wait()
    #expect(result.status == 130)
    #expect(result.outputText.isEmpty)
  }

  @Test func `after an interrupt, bench prints the finished rounds`() async throws {
    let held = Mutex<(count: Int, answers: [DeferredResponse])>((0, []))
    let server = try LoopbackServer { _ in
      let isLate = held.withLock { held in
        held.count += 1
        return held.count > 50
      }
      guard isLate else { return .text("ok\n") }
      return .deferred { answer in held.withLock { $0.answers.append(answer) } }
    }
    defer { server.stop() }
    let running = try Tool.start("bench", "-n", "4", "--rounds", "1000", server.baseURL)
    try await server.waitForRequests(51)
    running.send(signal: 15)
    let result = try await running.wait()
    #expect(result.status == 143)
    // 1 request of the warm-up, and 4 in each round. The thirteenth round was not finished.
    #expect(result.outputText.hasPrefix("GET \(server.baseURL): 12 of 1,000 rounds of 4 requests, 32 at a time\n"))
  }

  @Test(arguments: [
    (["--requests", "0"], "--requests: expected a number from 1 to 100000000, found \"0\""),
    (["--connections", "x"], "--connections: expected a number from 1 to 10000, found \"x\""),
    (["--rounds", "0"], "--rounds: expected a number from 1 to 1000, found \"0\""),
    (["-H", "x", "http://127.0.0.1/"], "bench: -H: expected \"NAME: VALUE\", found \"x\""),
    (["-d", "a", "-F", "b=c", "http://127.0.0.1/"], "bench: give only one of data (-d, --json), a form (-F)"),
  ])
  func `wrong usage is refused, and the message says what is expected`(
    _ arguments: [String], _ message: String
  ) async throws {
    let result = try await Command.run(Tool.path, ["bench"] + arguments, environment: Tool.cleared)
    #expect(result.status == 2)
    #expect(result.errorText.contains(message), "\(result.errorText)")
  }

  @Test func `a spread is printed as the median with the lowest and the highest value`() {
    #expect(BenchSpread([3, 1, 2]).text { "\(Int($0))" } == "2 (1 to 3)")
    #expect(BenchSpread([4, 1]).median == 2.5)
  }
}
