import CEnvoyPlayer
import Glibc
// The hooks of CEnvoy call it.
import SluiceEnvoyHost
import SluiceJSON
import SluicePluginFile
import SluicePluginHost
import SluiceTestKit
import Synchronization
import Testing

/// A plan folder, and the configurations of the filter that name it, in an Envoy that the test plays.
final class EnvoyFixture {
  let folder: TemporaryDirectory
  private var number = 0
  private var configurations: [UnsafeRawPointer] = []

  /// - Parameter configuration: the first plan.
  init(_ configuration: String, _ libraries: [String]) throws {
    folder = try TemporaryDirectory()
    try folder.makeFolder("plans")
    try publish(configuration, libraries)
  }

  deinit { close() }

  /// Makes a plan, and makes it the current one.
  @discardableResult
  func publish(_ configuration: String, _ libraries: [String], change: (_ plan: String) throws -> Void = { _ in })
    throws -> Int
  {
    number += 1
    let plan = try folder.makeFolder("plans/\(number)")
    let entries = JSONValue.object()
    for (index, library) in libraries.enumerated() {
      let bytes = try FileTree.read(library)
      let copy = try folder.write(bytes, to: "plans/\(number)/\(index).so")
      chmod(copy, 0o500)
      let hash = try #require(ContentHash(of: bytes))
      entries[library] = ["copy": JSONValue(copy), "hash": JSONValue(hash.hex)]
    }
    let document: JSONValue = ["text": JSONValue(configuration), "file": "/sluice.json", "libraries": entries]
    let file = try folder.write(document.serialized(), to: "plans/\(number)/plan.json")
    chmod(file, 0o600)
    try change(plan)
    try point("plans/\(number)")
    return number
  }

  /// Makes `current` lead to a target.
  func point(_ target: String) throws {
    unlink(folder.path("current.new"))
    try #require(symlink(target, folder.path("current.new")) == 0)
    try #require(rename(folder.path("current.new"), folder.path("current")) == 0)
  }

  /// Opens a configuration of the filter; nil if the module refuses it.
  func open(_ filter: String = "pipeline") -> UnsafeRawPointer? {
    let configuration = player_configuration_new(filter, "{\"plan\": \"\(folder.path)\"}")
    if let configuration { configurations.append(configuration) }
    return configuration
  }

  func close() {
    for configuration in configurations { player_configuration_destroy(configuration) }
    configurations = []
  }

  /// The status that the process has written.
  var status: JSONValue? {
    (try? FileTree.read(folder.path("status/\(getpid()).json"))).flatMap { try? JSONValue(parsing: $0) }
  }

  /// Waits until a plan serves.
  func waitForPlan(_ number: Int) async throws {
    #expect(try await eventually { self.status?["plan"]?.integer == Int64(number) })
  }

  /// A plugin in C with these functions for the stage.
  static func plugin(
    request: String = "", response: String = "", issue: String = "", wants: String = "0", name: String = "stage"
  ) async throws -> PluginCompiler.Product {
    func function(_ name: String, _ body: String) -> String {
      """
      static sluice_verdict \(name)(void *instance, sluice_exchange *exchange) {
        const sluice_host *host = (const sluice_host *)instance;
        const sluice_exchange_api *api = host->exchange;
        (void)api, (void)exchange;
        \(body)
        return SLUICE_VERDICT_CONTINUE;
      }
      """
    }
    return try await PluginCompiler.compile(
      source: """
        #include <sluice/sluice.h>
        \(function("on_request", request))
        \(function("on_response", response))
        \(function("on_issue", issue))
        static const sluice_interceptor interceptor = SLUICE_TABLE(
            sluice_interceptor, SLUICE_SET(wants, \(wants)), SLUICE_SET(on_request, on_request),
            SLUICE_SET(on_response, on_response), SLUICE_SET(on_issue, on_issue));
        SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});
        SLUICE_PLUGIN("\(name)", "1.0.0", SLUICE_SET(summary, "A stage."), SLUICE_UNCONFIGURED,
                      SLUICE_SET(extension, extension));
        """, name: name)
  }

  /// A configuration with one plugin in these lists.
  static func configuration(_ plugin: PluginCompiler.Product, _ lists: String...) -> String {
    let members = lists.map { ", \"\($0)\": [\"stage\"]" }.joined()
    return "{\"plugins\": {\"stage\": {\"library\": \"\(plugin.path)\"}}\(members)}"
  }

  /// A fixture with one plugin.
  convenience init(_ plugin: PluginCompiler.Product, _ lists: String...) throws {
    let members = lists.map { ", \"\($0)\": [\"stage\"]" }.joined()
    try self.init("{\"plugins\": {\"stage\": {\"library\": \"\(plugin.path)\"}}\(members)}", [plugin.path])
  }
}

/// A worker of Envoy. Only one thread uses it.
final class EnvoyWorker {
  fileprivate let pointer = player_worker_new()

  deinit { player_worker_free(pointer) }

  /// Lets the commits of schedulers arrive. Returns how many did within the time limit of tests.
  @discardableResult
  func turn() -> Int { Int(player_worker_turn(pointer, 10_000)) }

  /// Lets the commits that have arrived be delivered, and waits for none.
  func turnWithoutWaiting() { player_worker_turn(pointer, 0) }
}

/// A stream in Envoy. Only the thread of its worker uses it.
final class PlayedStream {
  private let stream: OpaquePointer
  private var isDestroyed = false

  /// - Parameters:
  ///   - downstream: for an upstream filter, the stream to which the attempt belongs.
  ///   - earlier: the attempt before, whose fields this one has.
  init(
    _ configuration: UnsafeRawPointer?, _ worker: EnvoyWorker, attemptOf downstream: PlayedStream? = nil,
    after earlier: PlayedStream? = nil, method: String = "GET", path: String = "/a?b=1", fields: [(String, String)] = []
  ) {
    stream = player_stream_new(configuration, worker.pointer, downstream?.stream)
    if let downstream {
      player_stream_copy(stream, (earlier ?? downstream).stream, SLUICE_ENVOY_REQUEST)
      return
    }
    for (name, value) in [(":method", method), (":scheme", "http"), (":authority", "a.test"), (":path", path)] + fields
    {
      player_stream_add(stream, SLUICE_ENVOY_REQUEST, name, value)
    }
  }

  deinit { destroy() }

  func destroy() {
    guard !isDestroyed else { return }
    isDestroyed = true
    player_stream_destroy(stream)
  }

  /// Passes the head of the request. Returns whether it has got past the filter.
  @discardableResult
  func request(isLast: Bool = true) -> Bool { player_stream_headers(stream, true, isLast) }

  /// Passes the head of a response of an upstream.
  @discardableResult
  func respond(_ status: Int = 200, _ fields: [(String, String)] = [], isLast: Bool = true, isLocal: Bool = false)
    -> Bool
  {
    if !isLocal { player_stream_set_upstream(stream, "127.0.0.1:80") }
    for (name, value) in [(":status", String(status))] + fields {
      player_stream_add(stream, SLUICE_ENVOY_RESPONSE, name, value)
    }
    return player_stream_headers(stream, false, isLast)
  }

  @discardableResult
  func body(_ text: String, ofRequest isRequest: Bool, isLast: Bool) -> Bool {
    player_stream_body(stream, isRequest, text, text.utf8.count, isLast)
  }

  @discardableResult
  func trailers(ofRequest isRequest: Bool) -> Bool { player_stream_trailers(stream, isRequest) }

  func hasPassed(ofRequest isRequest: Bool) -> Bool { player_stream_has_passed(stream, isRequest) }

  /// Whether nothing of the response waits for the filter.
  var hasPassedAll: Bool { !player_stream_is_stopped(stream, false) }

  func requestField(_ name: String, _ index: Int = 0) -> String? { field(SLUICE_ENVOY_REQUEST, name, index) }
  func responseField(_ name: String, _ index: Int = 0) -> String? { field(SLUICE_ENVOY_RESPONSE, name, index) }

  private func field(_ part: sluice_envoy_part, _ name: String, _ index: Int) -> String? {
    player_stream_get(stream, part, name, index).map { String(cString: $0) }
  }

  func passedBody(ofRequest isRequest: Bool) -> String {
    var count = 0
    let start = player_stream_passed_body(stream, isRequest, &count)
    return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// The status of the module's own answer; nil if it made none.
  var reply: Int? {
    let status = player_stream_reply(stream)
    return status == 0 ? nil : Int(status)
  }

  var replyBody: String {
    var count = 0
    let start = player_stream_reply_body(stream, &count)
    return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
  }
}

/// The lines that were logged since the last call. The log belongs to the process, so the suites that read it are
/// serialized.
func takeEnvoyLog() -> String {
  guard let lines = player_take_log() else { return "" }
  defer { free(lines) }
  return String(cString: lines)
}
