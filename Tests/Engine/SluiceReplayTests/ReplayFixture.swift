import Sluice
import SluicePipeline
import SluicePluginHost
import SluiceReplay
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Two builds of one plugin, and recordings of requests through the first build.
final class ReplayFixture: Sendable {
  let folder: TemporaryDirectory
  let server: LoopbackServer
  private let products: [PluginCompiler.Product]

  var old: String { products[0].path }
  var new: String { products[1].path }

  /// - Parameters:
  ///   - old: the defines with which the old build of `differs-by-build` is compiled. `new` has the defines of the new
  ///     build.
  ///   - plugins: further plugins besides "a", with a comma in front.
  ///   - more: further members of the configuration, with a comma in front.
  init(
    old: [String] = [], new: [String] = [], plugins: String = "", issue: String = #""a""#, more: String = "",
    handler: @escaping EmbeddedServer.Handler = { _ in .text("ok\n") }
  ) async throws {
    folder = try TemporaryDirectory()
    server = try LoopbackServer(handler: handler)
    products = [
      try await PluginCompiler.compile("differs-by-build", defines: old),
      try await PluginCompiler.compile("differs-by-build", defines: new),
    ]
    let text = """
      {"plugins": {"a": {"library": "\(products[0].path)"}\(plugins)}, "request": ["a"], "issue": [\(issue)],
       "response": ["a"], "store": "store"\(more)}
      """
    _ = try folder.write(text, to: "sluice.json")
  }

  /// Sends requests through the old build over real sockets, and returns the recordings.
  func record(_ requests: [Request]) async throws -> [RecordedExchange] {
    let engine = try Engine(Configuration(file: folder.path("sluice.json")))
    var recordings: [RecordedExchange] = []
    for var request in requests {
      request.wantsRecording = true
      recordings.append(try #require(await engine.transaction(request).recording))
    }
    await engine.shutdown()
    return recordings
  }

  func request(_ path: String = "/", _ headers: HeaderFields = [:]) throws -> Request {
    Request(url: try HTTPURL(server.baseURL + path), headers: headers)
  }

  func record(_ path: String = "/", _ headers: HeaderFields...) async throws -> [RecordedExchange] {
    var requests: [Request] = []
    for headers in headers.isEmpty ? [HeaderFields()] : headers { requests.append(try request(path, headers)) }
    return try await record(requests)
  }

  static func replay() throws -> Replay {
    var replay = try #require(Replay(helper: BuiltProducts.executable("sluice")))
    replay.deadline = Patience.limit
    return replay
  }

  func compare(_ recordings: [RecordedExchange], _ replay: Replay? = nil) async throws -> ReplayReport {
    let before = server.requestCount
    let file = folder.path("sluice.json")
    let report = try await (replay ?? Self.replay()).compare(
      recordings, old: Replay.Build(file: file), new: Replay.Build(file: file, libraries: [old: new]))
    #expect(server.requestCount == before, "a replay sends nothing")
    return report
  }
}
