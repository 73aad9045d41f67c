import Glibc
import Sluice
import SluicePlugin

/// A pipeline whose cost is measured.
struct BenchmarkPipeline {
  var configuration: Configuration
  /// The headers of the request that the caller gives to the engine.
  var callerHeaders: [(name: String, value: String)]

  /// What the stage of `BenchStage` does with the request and with the response.
  enum Work: String {
    case proceed = "continue"
    case set, read, write
  }

  static func empty(_ plan: Plan) throws -> Self { try Self(plan, #"{"transport": {"loops": 1}}"#, plan.headers) }

  /// A pipeline of C stages that all do the same work. The caller sets all headers.
  static func stages(_ plan: Plan, _ count: Int, _ work: Work) throws -> Self {
    let names = (0..<count).map { "stage-\($0)" }
    let instances = names.map {
      #""\#($0)": {"library": "\#(Self.library)", "config": {"does": "\#(work.rawValue)"}}"#
    }
    let list = Self.list(names)
    return try Self(
      plan,
      """
      {"plugins": {\(instances.joined(separator: ",\n"))},
       "request": [\(list)], "response": [\(list)], "transport": {"loops": 1}}
      """, plan.headers)
  }

  /// A pipeline of one C stage, in the folder.
  /// - Parameter swap: the object `swap` of the configuration.
  static func replaceable(_ plan: Plan, in folder: TemporaryFolder, swap: String) throws -> Self {
    try replace(0, in: folder)
    return try Self(
      plan,
      """
      {"plugins": {"stage-0": {"library": "\(folder.path)/a.so", "config": {"does": "continue"}}},
       "request": ["stage-0"], "response": ["stage-0"], "swap": \(swap), "transport": {"loops": 1}}
      """, plan.headers)
  }

  /// Writes another build of the stage, which does the same. Builds differ only in bytes behind the end of the library.
  static func replace(_ build: UInt8, in folder: TemporaryFolder) throws {
    try folder.write(TemporaryFolder.read(library) + [build], to: "a.so")
  }

  /// A pipeline of five interceptors in C, the built-in `headers` stage and the built-in `metrics` tracer. Each of the
  /// interceptors sets a header of the request and looks for a header in the response.
  /// - Parameter isTraced: whether to add a tracer in C that counts all events.
  static func full(_ plan: Plan, loops: Int = 1, isTraced: Bool = false) throws -> Self {
    let stages = plan.stageHeaders.indices.map { "stage-\($0)" }
    var instances = zip(stages, plan.stageHeaders).map { stage, header in
      """
      "\(stage)": {"library": "\(plan.plugins)/libstatic-headers.so",
                   "config": {"request": {"\(header.name)": "\(header.value)"}, "response": {"x-absent": null}}}
      """
    }
    instances.append(#""headers": {"builtin": "headers", "config": {"hosts": ["*"], "propagators": ["tracecontext"]}}"#)
    instances.append(#""metrics": {"builtin": "metrics"}"#)
    if isTraced {
      instances.append(#""counter": {"library": "\#(Self.library)", "config": {"does": "continue"}}"#)
    }
    return try Self(
      plan,
      """
      {"plugins": {\(instances.joined(separator: ",\n"))},
       "request": [\(list(stages))], "issue": ["headers"], "response": [\(list(stages))],
       "tracers": [\(list(["metrics"] + (isTraced ? ["counter"] : [])))], "transport": {"loops": \(loops)}}
      """, [])
  }

  /// Five interceptors in Swift that do the same as the interceptors of ``full(_:loops:isTraced:)``. They are
  /// asynchronous functions that never wait.
  static func swift(_ plan: Plan) throws -> Self {
    var pipeline = try Self(plan, #"{"transport": {"loops": 1}}"#, plan.hopHeaders)
    for (index, header) in plan.stageHeaders.enumerated() {
      let code = StageCode(
        request: { request, _ in try request.headers.set(header.name, to: header.value) },
        response: { response, _ in response.headers.remove("x-absent") })
      pipeline.configuration.addStage("stage-\(index)", code)
    }
    return pipeline
  }

  private init(_ plan: Plan, _ text: String, _ callerHeaders: [(name: String, value: String)]) throws {
    configuration = try Configuration(text: Array(text.utf8))
    self.callerHeaders = callerHeaders
  }

  private static func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }

  /// The path of the library, which is built beside this program.
  private static let library: String = {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = max(0, readlink("/proc/self/exe", &path, path.count))
    let program = String(decoding: path.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return program.prefix(upTo: program.lastIndex(of: "/") ?? program.startIndex) + "/libbench-stage.so"
  }()
}
