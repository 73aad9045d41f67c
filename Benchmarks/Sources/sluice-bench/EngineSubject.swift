import Dispatch
import Sluice

/// The whole engine: five interceptors in C, each of which sets a header of the request and reads the response, the
/// built-in headers stage, and the metrics stage.
///
/// It sends the same headers as the other subjects; here the stages make them.
final class EngineSubject: BenchmarkSubject, @unchecked Sendable {
  // Sendable: only the engine's single loop changes the counters, and the semaphore orders the reads after that.
  let name = "engine"
  private let engine: Engine
  private let request: Request
  private let connections: Int
  private var toStart = 0
  private var running = 0
  private var failed = 0
  private let done = DispatchSemaphore(value: 0)

  /// - Parameter plugins: the folder of the built plugins.
  init(_ plan: Plan, plugins: String) throws {
    var configuration = try Configuration(text: Array(Self.configuration(plan, plugins).utf8))
    configuration.transport.tls.ca = plan.certificateAuthority
    configuration.transport.decodesContent = false
    engine = try Engine(configuration)
    request = Request(url: try HTTPURL(plan.url))
    connections = plan.connections
  }

  func run(requests: Int) -> Int {
    // Begins on the loop, so that each further request is submitted where it runs, as for the other subjects.
    engine.submit(request) { [self] _ in
      toStart = requests
      failed = 0
      for _ in 0..<min(connections, requests) { startNext() }
    }
    done.wait()
    return failed
  }

  private func startNext() {
    toStart -= 1
    running += 1
    engine.submit(request, completion: completion)
  }

  // Keeps a strong reference to the subject, which exists as long as the program: a weak reference would be counted at
  // each use.
  private lazy var completion: @Sendable (TransactionResult) -> Void = { [self] result in
    running -= 1
    if result.error != nil { failed += 1 }
    if toStart > 0 { startNext() } else if running == 0 { done.signal() }
  }

  private static func configuration(_ plan: Plan, _ plugins: String) -> String {
    let stages = plan.stageHeaders.indices.map { "stage-\($0)" }
    let instances = zip(stages, plan.stageHeaders).map { stage, header in
      """
      "\(stage)": {"library": "\(plugins)/libstatic-headers.so",
                   "config": {"request": {"\(header.name)": "\(header.value)"}, "response": {"x-absent": null}}}
      """
    }
    let list = stages.map { "\"\($0)\"" }.joined(separator: ", ")
    return """
      {"plugins": {\(instances.joined(separator: ",\n")),
                   "headers": {"builtin": "headers", "config": {"hosts": ["*"], "propagators": ["tracecontext"]}},
                   "metrics": {"builtin": "metrics"}},
       "request": [\(list)], "issue": ["headers"], "response": [\(list)], "tracers": ["metrics"],
       "transport": {"loops": 1}}
      """
  }
}
