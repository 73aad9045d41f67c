import CSluice
import Glibc
import SluiceJSON
@testable import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestPipeline
import Testing

@testable import SluicePluginHost

/// Plugins with the flags SLUICE_FLAG_SERIAL and SLUICE_FLAG_BLOCKING.
struct ConcurrencyTests {
  private func open(_ stage: StageFixture) throws {
    let gate = try #require("fixture.gate".withCString { stage.generation.table.extension($0) })
    sem_post(UnsafeMutableRawPointer(mutating: gate).assumingMemoryBound(to: sem_t.self))
  }

  @Test func `a blocking stage does not block the loop, and its changes take effect`() async throws {
    let stage = try await StageFixture("is-blocking")
    let outcome = stage.begin(try StageFixture.request())
    try await stage.log.wait { $0.contains { $0.message == "blocked=1" } }
    #expect(outcome.result == nil)
    #expect(stage.told("suspend") == ["-2"])
    try open(stage)
    #expect(stage.loop.run(until: { outcome.result != nil }))
    #expect(outcome.result?.error == nil)
    #expect(stage.transport.issued.first?.headers["x-blocked"] == "yes")
    // The thread of the blocking call releases the call's copy of the data, possibly after the end of the transaction.
    #expect(stage.loop.run(until: { stage.numbers("fixture.released", count: 2) == [1, 0] }))
  }

  /// Returns a stage whose blocking call returns only after its transaction has failed at the deadline.
  private func stageWithLateCall() async throws -> StageFixture {
    let stage = try await StageFixture("is-blocking")
    stage.stageDeadline = .milliseconds(100)
    let outcome = stage.begin(try StageFixture.request())
    try await stage.log.wait { $0.contains { $0.message == "blocked=1" } }
    stage.loop.advance(by: .seconds(1))
    #expect(outcome.result?.error?.code == .stageTimeout)
    try open(stage)
    return stage
  }

  @Test func `data is released on the loop, even if a late call was the last user`() async throws {
    let stage = try await stageWithLateCall()
    #expect(stage.loop.run(until: { stage.numbers("fixture.released", count: 2) == [1, 0] }))
  }

  @Test func `data of a late call is released after the loops have ended`() async throws {
    let stage = try await StageFixture("is-blocking")
    let loop = try Loop(index: 0)
    let environment = LoopEnvironment(loop: loop, transport: FailingTransport(loop: loop))
    let isBlocked = Watched(false)
    let runtime = HostRuntime(loops: [environment], programName: "test", programVersion: "1") { entry in
      if entry.message == "blocked=1" { isBlocked.update { $0 = true } }
    }
    let instance = try PluginInstance(stage.generation, name: "stage", configuration: [:], runtime: runtime)
    try instance.activate()
    let pipeline = Pipeline(requestStages: [StageBinding(name: "stage", interceptor: instance)])
    let isDone = Watched(false)
    let request = try StageFixture.request()
    loop.post {
      Transaction.begin(request, on: environment, through: pipeline) { _ in isDone.update { $0 = true } }
    }
    try await isBlocked.wait(for: "the blocking call") { $0 }
    loop.post {
      environment.abortAll(TransactionError(code: .shutdown, message: "the end"))
    }
    try await isDone.wait(for: "the end of the transaction") { $0 }
    #expect(!runtime.close(within: .zero))
    loop.shutdown()
    #expect(stage.numbers("fixture.released", count: 1) == [0])
    try open(stage)
    #expect(runtime.close(within: .seconds(30)))
    #expect(stage.numbers("fixture.released", count: 1) == [1])
  }

  @Test func `an instance is destroyed only after the data of its last call was released`() async throws {
    let stage = try await stageWithLateCall()
    #expect(stage.runtime.close(within: .seconds(30)))
    // The call has ended, but its data must be released on the loop.
    #expect(!stage.instance.destroy(within: .milliseconds(1)))
    #expect(stage.loop.run(until: { stage.numbers("fixture.released", count: 2) == [1, 0] }))
    #expect(stage.instance.destroy(within: .seconds(30)))
  }

  @Test func `an instance can be destroyed even if some of its calls never began`() async throws {
    let stage = try await StageFixture("is-blocking")
    let runtime = HostRuntime(
      loops: [stage.environment], programName: "test", programVersion: "1", blockingThreads: 1
    ) { _ in }
    let instance = try PluginInstance(stage.generation, name: "stage", configuration: [:], runtime: runtime)
    try instance.activate()
    let pipeline = Pipeline(requestStages: [StageBinding(name: "stage", interceptor: instance)])
    let request = try StageFixture.request()
    stage.loop.perform {
      for _ in 0..<3 { _ = Transaction.begin(request, on: stage.environment, through: pipeline) { _ in } }
      stage.environment.abortAll(TransactionError(code: .shutdown, message: "the end"))
    }
    _ = runtime.close(within: .zero)
    for _ in 0..<3 { try open(stage) }
    #expect(runtime.close(within: .seconds(30)))
    stage.loop.perform {}
    #expect(instance.openWorkCounts.calls == 0)
    #expect(instance.destroy(within: .zero))
  }

  @Test(arguments: [[], ["SERIAL"]])
  func `a blocking call that ends its thread is a fault, and no longer counts towards the limit`(defines: [String])
    async throws
  {
    let stage = try await StageFixture("is-blocking", defines: defines)
    let said = Watched<[String]>([])
    let runtime = HostRuntime(
      loops: [stage.environment], programName: "test", programVersion: "1", blockingCalls: 1, blockingThreads: 1
    ) { entry in said.update { $0.append(entry.message) } }
    let instance = try PluginInstance(stage.generation, name: "stage", configuration: [:], runtime: runtime)
    try instance.activate()
    let pipeline = Pipeline(requestStages: [StageBinding(name: "stage", interceptor: instance)])
    for headers in [["x-end-thread": "1"], ["x-end-thread": "1"], [:]] as [HeaderFields] {
      try open(stage)
      let request = try StageFixture.request("GET", headers)
      var result: TransactionResult?
      stage.loop.perform { _ = Transaction.begin(request, on: stage.environment, through: pipeline) { result = $0 } }
      #expect(stage.loop.run(until: { result != nil }))
      #expect(result?.error?.code == (headers.isEmpty ? nil : .stageFault))
    }
    #expect(said.value.count { $0.contains("ended the thread of a BLOCKING call with pthread_exit") } == 2)
    #expect(runtime.close(within: .seconds(30)))
    stage.loop.perform {}
    #expect(instance.destroy(within: .seconds(30)))
  }

  @Test(arguments: [[], ["SERIAL"]])
  func `a blocking call beyond the limit is a fault, and the error names the configuration key`(
    defines: [String]
  ) async throws {
    let stage = try await StageFixture("is-blocking", defines: defines)
    let runtime = HostRuntime(
      loops: [stage.environment], programName: "test", programVersion: "1", blockingCalls: 2, blockingThreads: 1
    ) { _ in }
    defer { runtime.close() }
    let instance = try PluginInstance(stage.generation, name: "stage", configuration: [:], runtime: runtime)
    try instance.activate()
    let pipeline = Pipeline(requestStages: [StageBinding(name: "stage", interceptor: instance)])
    var results: [TransactionResult] = []
    func begin(_ count: Int) throws {
      let request = try StageFixture.request()
      stage.loop.perform {
        for _ in 0..<count {
          _ = Transaction.begin(request, on: stage.environment, through: pipeline) { results.append($0) }
        }
      }
    }
    try begin(3)
    #expect(results.map(\.error?.code) == ["too_many_blocking_calls"])
    let message = try #require(results.first?.error?.message)
    #expect(message.contains("2 calls of BLOCKING stages are under way, as many as limits.blockingCalls allows"))
    for _ in 0..<2 { try open(stage) }
    #expect(stage.loop.run(until: { results.count == 3 }))
    #expect(results.dropFirst().allSatisfy { $0.error == nil })
    // An ended call no longer counts towards the limit.
    for _ in 0..<2 { try open(stage) }
    try begin(2)
    #expect(stage.loop.run(until: { results.count == 5 }))
    #expect(results.suffix(2).allSatisfy { $0.error == nil })
  }

  @Test func `a blocking stage can set the details of its verdict`() async throws {
    let stage = try await StageFixture("is-blocking")
    try open(stage)
    let result = try stage.run(StageFixture.request("GET", ["x-fail": "1"]))
    #expect(result.error == TransactionError(code: "blocked", message: "as was asked", stage: "stage"))
  }

  @Test func `changes of a late blocking stage are dropped`() async throws {
    let stage = try await StageFixture("is-blocking")
    stage.stageDeadline = .milliseconds(100)
    stage.onFault = .skip
    let outcome = stage.begin(try StageFixture.request())
    try await stage.log.wait { $0.contains { $0.message == "blocked=1" } }
    stage.loop.advance(by: .seconds(1))
    #expect(outcome.result?.error == nil)
    #expect(stage.transport.issued.first?.headers.contains("x-blocked") == false)
    try open(stage)
    try await stage.log.wait { $0.contains { $0.message == "done=1" } }
    #expect(stage.loop.run(until: { stage.numbers("fixture.released", count: 1) == [1] }))
    #expect(stage.told("cancel").isEmpty)
  }

  @Test func `the close of the host waits for a blocking call, but not longer than the limit`() async throws {
    let stage = try await StageFixture("is-blocking")
    _ = stage.begin(try StageFixture.request())
    try await stage.log.wait { $0.contains { $0.message == "blocked=1" } }
    #expect(!stage.runtime.close(within: .milliseconds(1)))
    try open(stage)
    #expect(stage.runtime.close(within: .seconds(30)))
  }

  @Test(arguments: [[], ["BLOCKING"]])
  func `calls of a serial instance never overlap, even on different loops`(defines: [String]) async throws {
    let stage = try await StageFixture("is-serial", defines: defines)
    let loops = try [Loop(index: 0), Loop(index: 1)]
    defer { for loop in loops { loop.shutdown() } }
    let environments = loops.map { LoopEnvironment(loop: $0, transport: FailingTransport(loop: $0)) }
    let runtime = HostRuntime(loops: environments, programName: "test", programVersion: "1") { _ in }
    let instance = try PluginInstance(stage.generation, name: "serial", configuration: [:], runtime: runtime)
    try instance.activate()
    let binding = StageBinding(name: "serial", interceptor: instance)
    let pipeline = Pipeline(requestStages: [binding], issueStages: [binding], loops: 2)
    let done = Watched((ended: 0, codes: Set<String>()))
    let plain = try StageFixture.request()
    let suspending = defines.isEmpty ? try StageFixture.request("GET", ["x-suspend": "1"]) : plain
    for number in 0..<400 {
      let environment = environments[number % 2]
      environment.loop.post {
        Transaction.begin(number % 3 == 0 ? suspending : plain, on: environment, through: pipeline) { result in
          let code = result.error?.code ?? ""
          done.update {
            $0.ended += 1
            $0.codes.insert(code.rawValue)
          }
        }
      }
    }
    let end = try await done.wait(for: "all transactions") { $0.ended == 400 }
    #expect(end.codes == ["connection_lost"])
    #expect(stage.numbers("fixture.counts", count: 2) == [defines.isEmpty ? 800 : 400, 0])
    runtime.close()
  }

  @Test(arguments: [("ISSUE", "on_issue"), ("PIECES", "sluice.body/1"), ("TRACES", "on_event")])
  func `a serial and blocking stage is refused if it has a callback that would make a loop wait`(
    define: String, call: String
  ) async throws {
    let error = await #expect(throws: PluginError.self) {
      try await StageFixture("is-serial", defines: ["BLOCKING", define])
    }
    #expect(error?.code == .invalidTable)
    let says = error?.says(
      #"plugin "stage""#, "SLUICE_FLAG_SERIAL and SLUICE_FLAG_BLOCKING and has \(call):", "leave out")
    #expect(says == true, "\(String(describing: error))")
  }

  @Test func `on_cancel of a serial and blocking stage is called after the running call, and no loop waits`()
    async throws
  {
    let stage = try await StageFixture("is-blocking", defines: ["SERIAL"]) { request in
      guard request.headers.contains("x-redirect") else { return .response(Response(status: 200)) }
      return .response(Response(status: 302, headers: ["location": "/next"]))
    }
    try open(stage)
    stage.stageDeadline = .milliseconds(200)
    let redirected = stage.begin(try StageFixture.request("GET", ["x-redirect": "1"]))
    #expect(stage.loop.run(until: { stage.told("redirect") == ["0"] }))
    stage.stageDeadline = nil
    let blocked = stage.begin(try StageFixture.request())
    try await stage.log.wait { $0.filter { $0.message == "blocked=1" }.count == 2 }
    stage.loop.advance(by: .seconds(1))
    #expect(redirected.result?.error?.code == .stageTimeout)
    #expect(stage.told("cancel").isEmpty)
    try open(stage)
    #expect(stage.loop.run(until: { stage.told("cancel") == ["1"] && blocked.result != nil }))
    #expect(blocked.result?.response?.status == 200)
  }
}

/// A transport that issues each request, and then reports a lost connection.
private final class FailingTransport: Transport {
  private let loop: Loop
  init(loop: Loop) { self.loop = loop }

  func start(_ request: Request, _ options: TransferOptions, observer: any TransferObserver) -> any Transfer {
    let transfer = FailingTransfer(request, observer)
    loop.post { transfer.begin() }
    return transfer
  }

  func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer { NoBody() }

  func stream(of file: FileBody) throws(TransportError) -> BodyStream {
    throw TransportError(.bodyFile, "no files here")
  }
}

private final class NoBody: BodyGatherer {
  var whenReady: (() -> Void)?
  func append(_ piece: [UInt8]) -> BodyProgress { .proceed }
  func finish() -> Body? { .empty }
}

/// `@unchecked Sendable`: used only on its loop.
private final class FailingTransfer: Transfer, @unchecked Sendable {
  private var request: Request
  private let observer: any TransferObserver

  init(_ request: Request, _ observer: any TransferObserver) {
    self.request = request
    self.observer = observer
  }

  func begin() {
    let isGoing = observer.transferWillIssue(&request.headers)
    observer.transferDidEnd(TransferEnd(error: TransportError(isGoing ? .connectionLost : .cancelled, "gone")))
  }

  func cancel() {}
  func proceed(_ disposition: BodyDisposition) {}
  func resumeReceiving() {}
  func resumeSending() {}
}
