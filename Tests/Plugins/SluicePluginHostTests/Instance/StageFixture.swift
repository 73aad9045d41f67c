import CSluice
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestPipeline
import SluiceTraceContext

@testable import SluicePluginHost
import SluicePluginFile

/// A compiled fixture plugin, used as a stage of a pipeline on a stub loop.
final class StageFixture {
  let library: LibraryFixture
  let loop: StubLoop
  let transport: StubTransport
  let environment: LoopEnvironment
  let runtime: HostRuntime
  let generation: PluginGeneration
  let instance: PluginInstance
  let log: Watched<[PluginLogEntry]>
  var stageDeadline: Duration?
  var onFault = FaultPolicy.fail
  /// Further stages after the fixture, both in the request list and in the response list.
  var nextStages: [StageBinding] = []

  convenience init(
    _ behaviour: String, defines: [String] = [], configuration: JSONValue = [:], isActive: Bool = true,
    features: HostFeatures = .offered, isTrial: Bool = false,
    suspensionChunks: Int = SuspensionTable.maximumChunks, minimumLogLevel: PluginLogEntry.Level = .debug,
    blockingThreads: Int = 16,
    answer: @escaping (Request) -> StubTransport.Reply = { _ in .response(Response(status: 200)) }
  ) async throws {
    let product = try await PluginCompiler.compile(behaviour, defines: defines)
    try await self.init(
      library: product.path, configuration: configuration, isActive: isActive, features: features, isTrial: isTrial,
      suspensionChunks: suspensionChunks, minimumLogLevel: minimumLogLevel, blockingThreads: blockingThreads,
      answer: answer
    )
    withExtendedLifetime(product) {}
  }

  init(
    library path: String, configuration: JSONValue = [:], isActive: Bool = true, features: HostFeatures = .offered,
    isTrial: Bool = false, suspensionChunks: Int = SuspensionTable.maximumChunks,
    minimumLogLevel: PluginLogEntry.Level = .debug, blockingThreads: Int = 16,
    answer: @escaping (Request) -> StubTransport.Reply
  ) async throws {
    library = try LibraryFixture()
    let loaded = try library.loader.stage(path).load()
    loop = StubLoop()
    transport = StubTransport(loop: loop, answer: answer)
    environment = LoopEnvironment(loop: loop, transport: transport, suspensionChunks: suspensionChunks)
    let log = Watched<[PluginLogEntry]>([])
    self.log = log
    runtime = HostRuntime(
      loops: [environment], programName: "test", programVersion: "1", features: features, isTrial: isTrial,
      blockingThreads: blockingThreads, minimumLogLevel: minimumLogLevel
    ) { entry in
      log.update { $0.append(entry) }
    }
    generation = try HostTable.enter(loaded, for: runtime)
    instance = try PluginInstance(generation, name: "stage", configuration: configuration, runtime: runtime)
    if isActive { try instance.activate() }
  }

  deinit { runtime.close() }

  func pipeline() -> Pipeline {
    let binding = StageBinding(name: "stage", interceptor: instance, deadline: stageDeadline, onFault: onFault)
    let capabilities = instance.capabilities
    return Pipeline(
      requestStages: [binding] + nextStages, issueStages: [binding], responseStages: [binding] + nextStages,
      tracers: capabilities.contains(.trace) ? [TracerBinding(name: "stage", tracer: instance)] : [])
  }

  /// Begins a transaction. The result is set during a later turn of the loop.
  func begin(_ request: Request, parent: ParentContext = ParentContext()) -> Outcome {
    let outcome = Outcome()
    let pipeline = pipeline()
    loop.perform {
      Transaction.begin(request, on: environment, through: pipeline, parent: parent) { outcome.result = $0 }
    }
    return outcome
  }

  /// Runs one transaction to its end.
  func run(_ request: Request, parent: ParentContext = ParentContext()) throws -> TransactionResult {
    let outcome = begin(request, parent: parent)
    guard loop.run(until: { outcome.result != nil }), let result = outcome.result else {
      throw TestKitError("the transaction did not end")
    }
    return result
  }

  static func request(_ method: String = "GET", _ headers: HeaderFields = [:], body: Body = .empty) throws -> Request {
    Request(method: method, url: HTTPURL("http://example.com/path?a=1"), headers: headers, body: body)
  }

  /// Returns the values that the plugin logged as `name=value`, in order.
  func told(_ name: String) -> [String] {
    log.value.map(\.message).filter { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
  }

  /// The warnings that the host logged about the plugin.
  var warnings: [String] { log.value.filter { $0.level == .warning }.map(\.message) }

  /// Returns the numbers that the plugin exports as an extension with this id.
  func numbers<Number>(_ id: String, _: Number.Type = CInt.self, count: Int) -> [Number] {
    guard let address = id.withCString({ generation.table.extension($0) }) else { return [] }
    return (0..<count).map { address.load(fromByteOffset: $0 * MemoryLayout<Number>.stride, as: Number.self) }
  }

  final class Outcome {
    var result: TransactionResult?
  }
}
