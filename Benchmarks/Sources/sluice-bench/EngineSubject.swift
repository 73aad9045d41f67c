import Dispatch
import Sluice

/// A whole engine with one pipeline. All subjects send the same headers on the wire; the caller gives the headers that
/// the pipeline does not set.
final class EngineSubject: BenchmarkSubject, Sendable {
  let name: String
  private let engine: Engine
  private let lanes: [EngineLane]
  private let done: DispatchSemaphore

  /// An engine with one C stage, which has begun to replace it by another build.
  /// - Parameter swap: the object `swap` of the configuration.
  convenience init(_ name: String, _ plan: Plan, beside swap: String) throws {
    let folder = try TemporaryFolder()
    try self.init(name, plan, .replaceable(plan, in: folder, swap: swap))
    try BenchmarkPipeline.replace(1, in: folder)
    let (engine, done) = (engine, done)
    Task.detached {
      do { print("\(try await engine.swap())") } catch { print("\(error)") }
      done.signal()
    }
    done.wait()
  }

  init(_ name: String, _ plan: Plan, _ pipeline: BenchmarkPipeline) throws {
    self.name = name
    let engine = try Engine(Self.configuration(of: pipeline, plan))
    let request = try Self.request(of: pipeline, plan)
    let done = DispatchSemaphore(value: 0)
    let loops = engine.executors.count
    lanes = Self.shares(of: plan.connections, loops).map {
      EngineLane(engine, request, connections: max(1, $0)) { done.signal() }
    }
    self.engine = engine
    self.done = done
  }

  static func configuration(of pipeline: BenchmarkPipeline, _ plan: Plan) -> Configuration {
    var configuration = pipeline.configuration
    configuration.transport.tls.ca = plan.certificateAuthority
    configuration.transport.decodesContent = false
    configuration.transport.httpVersion = plan.usesHTTP2 ? .http2 : .http11
    return configuration
  }

  static func request(of pipeline: BenchmarkPipeline, _ plan: Plan) throws -> Request {
    var headers = HeaderFields()
    for (name, value) in pipeline.callerHeaders { headers.append(name, value) }
    return Request(url: try HTTPURL(plan.url), headers: headers)
  }

  func run(requests: Int) -> Int {
    for (index, share) in Self.shares(of: requests, lanes.count).enumerated() {
      let lane = lanes[index]
      Task.detached(executorPreference: engine.executors[index]) { lane.begin(requests: share) }
    }
    for _ in lanes { done.wait() }
    return lanes.reduce(0) { $0 + $1.failed }
  }

  private static func shares(of total: Int, _ count: Int) -> [Int] {
    (0..<count).map { total / count + ($0 < total % count ? 1 : 0) }
  }
}
