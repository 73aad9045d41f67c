import Sluice
import SluiceAssembly
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers

@testable import SluiceGateway

/// A gateway in front of a server on this machine.
struct GatewayFixture: Sendable {
  /// Any free port.
  static let loopback = ServeSettings.Listener(host: "127.0.0.1", port: 0)

  let engine: Engine
  let gateway: Gateway

  init(
    to upstream: String, on listener: ServeSettings.Listener = Self.loopback, observer: (any GatewayObserver)? = nil,
    _ change: (inout Configuration) -> Void = { _ in },
    settings adjust: (inout ServeSettings) -> Void = { _ in }, log: @escaping @Sendable (LogLine) -> Void = { _ in }
  ) throws {
    var configuration = Configuration()
    configuration.transport.loops = 2
    change(&configuration)
    var settings = ServeSettings()
    settings.upstream = try HTTPURL(upstream)
    adjust(&settings)
    engine = try Engine(configuration, log: log)
    gateway = try Gateway(engine, on: listener, settings, observer: observer)
  }

  init(to port: UInt16, _ change: (inout Configuration) -> Void = { _ in }) throws {
    try self.init(to: "http://127.0.0.1:\(port)", change)
  }

  func client() throws -> RawClient { try RawClient(port: gateway.endpoint.port) }

  /// Ends the gateway and its engine. Returns whether nothing was left.
  @discardableResult
  func end() async -> Bool {
    let isEmpty = await WaitingRoom.run { gateway.drain(within: Patience.limit) }
    await engine.shutdown(drain: Patience.limit)
    return isEmpty && engine.unfinished.allSatisfy { $0 == 0 }
  }
}

/// Runs a call that blocks on a thread of its own.
enum WaitingRoom {
  static func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in Threads.start { continuation.resume(returning: body()) } }
  }
}

/// Records every request.
struct RecordingObserver: GatewayObserver {
  let hasRoom = true

  func asked(_ request: Request) -> Request {
    var request = request
    request.wantsRecording = true
    return request
  }

  func note(_ result: TransactionResult) {}
}
