import TransportLoad

/// The subjects that can be compared, by name.
enum Subjects {
  typealias Maker = (String, Plan) throws -> any BenchmarkSubject

  /// - Parameter processor: the processor of the client.
  static func all(_ processor: Int) -> [(name: String, make: Maker)] {
    [
      ("bare", { _, plan in try BareSubject(plan) }),
      ("transport", { try TransportSubject($0, over: .curl, $1, processor: processor) }),
      ("wire", { try TransportSubject($0, over: .wire, $1, processor: processor) }),
      ("empty", { try EngineSubject($0, $1, .empty($1)) }),
      ("engine", { try EngineSubject($0, $1, .full($1)) }),
      ("floor", { try FloorSubject($0, $1) }),
      ("traced", { try EngineSubject($0, $1, .full($1, isTraced: true)) }),
      ("swift", { try EngineSubject($0, $1, .swift($1)) }),
      ("read", { try EngineSubject($0, $1, .stages($1, 1, .read)) }),
      ("write", { try EngineSubject($0, $1, .stages($1, 1, .write)) }),
      ("stage", { try EngineSubject($0, $1, .stages($1, 1, .proceed)) }),
      ("stages", { try EngineSubject($0, $1, .stages($1, 9, .proceed)) }),
      ("set", { try EngineSubject($0, $1, .stages($1, 1, .set)) }),
      ("sets", { try EngineSubject($0, $1, .stages($1, 9, .set)) }),
      ("loops", { try EngineSubject($0, $1, .full($1, loops: 2)) }),
    ]
  }

  /// Those that run unless the command line names others.
  private static let usual = ["bare", "transport", "wire", "empty", "engine", "floor"]
  /// Those that have only HTTP/1.1.
  private static let withoutHTTP2: Set = ["wire", "floor"]

  static func make(_ plan: Plan, processor: Int) throws -> [any BenchmarkSubject] {
    let all = all(processor)
    let names =
      switch plan.subjects {
      case []: usual.filter { !plan.usesHTTP2 || !withoutHTTP2.contains($0) }
      case ["all"]: all.map(\.name).filter { !plan.usesHTTP2 || !withoutHTTP2.contains($0) }
      default: plan.subjects
      }
    return try names.map { name in
      guard let subject = all.first(where: { $0.name == name }) else { throw unknown(name, all.map(\.name)) }
      guard !plan.usesHTTP2 || !withoutHTTP2.contains(name) else { throw BenchmarkError("\(name) has no HTTP/2") }
      return try subject.make(name, plan)
    }
  }

  private static func unknown(_ name: String, _ known: [String]) -> BenchmarkError {
    BenchmarkError(
      "there is no subject \(name); there are \(known.joined(separator: ", ")), or all of them with \"all\", and alone"
        + " \(HeadersCost.name), \(SwapCost.name) or \(EditToLive.name)")
  }
}
