import Sluice
import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// Helpers for tests of events. These tests check what users of other HTTP clients expect from an event listener. Each
/// run also checks its whole log against the ledger's rules.
protocol EventScenario {}

/// The result and the events of one transaction.
struct Story {
  let result: TransactionResult
  let entries: [LedgerEntry]

  var kinds: [TraceEvent.Kind] { entries.map(\.kind) }
  var code: ErrorCode? { result.error?.code }

  func first(_ kind: TraceEvent.Kind) throws -> LedgerEntry { try #require(entries.first { $0.kind == kind }) }
  /// Returns the phases of the last hop, as `did_complete` reports them.
  func timings() throws -> TransferTimings { try #require(first(.didComplete).timings) }
}

extension EventScenario {
  static var success: [TraceEvent.Kind] {
    [.willExecute, .didConfigure, .didIssue, .didReceive, .didEndHop] + validated
  }
  static var validated: [TraceEvent.Kind] { [.didValidateResponse, .didExtract, .didValidatePayload, .didComplete] }
  static var lostOnTheWay: [TraceEvent.Kind] { [.willExecute, .didConfigure, .didIssue, .didEndHop, .didComplete] }
  static var lostInTheBody: [TraceEvent.Kind] {
    [.willExecute, .didConfigure, .didIssue, .didReceive, .didEndHop, .didComplete]
  }
  static var neverIssued: [TraceEvent.Kind] { [.willExecute, .didConfigure, .didEndHop, .didComplete] }

  /// Runs one request after the other on one engine, which is then shut down.
  func tell(_ requests: [Request], _ change: (inout Configuration) -> Void = { _ in }) async throws -> [Story] {
    let log = LedgerLog()
    let engine = try engine(log, change)
    var results: [TransactionResult] = []
    for request in requests { results.append(await engine.transaction(request)) }
    await engine.shutdown()
    #expect(log.violation == nil)
    let entries = log.entries
    return results.map { result in Story(result: result, entries: entries.filter { $0.transaction == result.id }) }
  }

  func tell(_ request: Request, _ change: (inout Configuration) -> Void = { _ in }) async throws -> Story {
    try #require(try await tell([request], change).first)
  }

  /// Runs one request, which its caller cancels when `moment` returns.
  func tellCancelled(
    _ request: Request, _ change: (inout Configuration) -> Void = { _ in },
    when moment: (Engine) async throws -> Void
  ) async throws -> Story {
    let log = LedgerLog()
    let engine = try engine(log, change)
    let task = Task { await engine.transaction(request) }
    try await moment(engine)
    task.cancel()
    let result = await task.value
    await engine.shutdown()
    #expect(result.outcome == .cancelled)
    #expect(log.violation == nil)
    let entries = log.entries.filter { $0.transaction == result.id }
    #expect(entries.last?.outcome == .cancelled)
    return Story(result: result, entries: entries)
  }

  /// Runs one request, which its caller cancels after an event of the given kind.
  func tellCancelled(
    _ request: Request, after kind: TraceEvent.Kind, _ change: (inout Configuration) -> Void = { _ in }
  ) async throws -> Story {
    let hasCome = Signal()
    return try await tellCancelled(request) { configuration in
      change(&configuration)
      configuration.addStage("tells", StageCode(observing: { if $0.kind == kind { hasCome.set() } }))
    } when: { _ in
      try await hasCome.wait()
    }
  }

  /// Returns an engine with long time limits, except for the limits that `change` sets.
  private func engine(_ log: LedgerLog, _ change: (inout Configuration) -> Void) throws -> Engine {
    var configuration = Configuration()
    configuration.deadline = nil
    configuration.transport.loops = 1
    configuration.transport.timeout = Patience.limit
    configuration.transport.connectTimeout = Patience.limit
    change(&configuration)
    configuration.addStage("ledger", log.code)
    return try Engine(configuration)
  }

  func get(_ url: String) throws -> Request { Request(url: try HTTPURL(url)) }

  func post(_ url: String, _ body: Body) throws -> Request {
    Request(method: "POST", url: try HTTPURL(url), body: body)
  }

  func withServer(
    _ handler: @escaping @Sendable (ServerRequest) -> ServerResponse = { _ in .text("abc") },
    _ body: (LoopbackServer) async throws -> Void
  ) async throws {
    let server = try LoopbackServer { handler($0) }
    defer { server.stop() }
    try await body(server)
  }

  func withSecureServer(
    _ body: (NginxServer, TestCertificates, (inout Configuration) -> Void) async throws -> Void
  ) async throws {
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(certificates: certificates)
    try await body(nginx, certificates) { $0.transport.tls.ca = certificates.authority }
  }
}
