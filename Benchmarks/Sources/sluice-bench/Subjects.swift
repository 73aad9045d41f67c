import Glibc
import TransportLoad

/// The subjects that can be compared, by name.
enum Subjects {
  typealias Maker = (String, Plan) throws -> any BenchmarkSubject

  /// - Parameter processor: the processor of the client.
  static func all(_ processor: Int) -> [(name: String, make: Maker)] {
    [
      ("bare", { _, plan in try BareSubject(plan) }),
      ("transport", { try TransportSubject($0, $1, processor: processor) }),
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
      ("canary", { try EngineSubject($0, $1, beside: #"{"canary": {"steps": [10], "hold": "1h"}}"#) }),
      ("shadow", { try EngineSubject($0, $1, beside: #"{"shadow": {"share": 1, "duration": "10m"}}"#) }),
      ("loops", { try EngineSubject($0, $1, .full($1, loops: 2)) }),
      ("client", { try ClientSubject($0, $1, .client, isOnLoop: true) }),
      ("client-pool", { try ClientSubject($0, $1, .client, isOnLoop: false) }),
      ("tasks", { try ClientSubject($0, $1, .engine, isOnLoop: true) }),
      ("run", { try CommandSubject($0, .sluiceRun, $1, processor: processor) }),
      ("curl", { try CommandSubject($0, .curl, $1, processor: processor) }),
    ]
  }

  /// Other clients. `--peers` names the folder in which `scripts/build-peers.sh` has built these programs.
  private static let peers = [
    Peer("go", program: "net-http", []), Peer("go-middleware", program: "net-http", ["--middleware"]),
    Peer("pycurl", program: "pycurl-loop", []), Peer("url-session", program: "url-session", []),
    Peer("h2load", program: nil, []),
  ]

  private struct Peer {
    let name: String
    /// The program in the folder of peers; nil for h2load, which is installed.
    let program: String?
    let options: [String]

    init(_ name: String, program: String?, _ options: [String]) {
      (self.name, self.program, self.options) = (name, program, options)
    }

    /// Why the client cannot run; nil if it can.
    func obstacle(_ plan: Plan) -> String? {
      if plan.usesHTTP2, program != nil { return "has no HTTP/2" }
      guard let program else { return ChildProcess.path(of: "h2load") == nil ? "h2load is not installed" : nil }
      guard let folder = plan.peers else { return "--peers is needed, see scripts/build-peers.sh" }
      return access("\(folder)/\(program)", X_OK) == 0
        ? nil : "\(folder)/\(program) does not exist, see scripts/build-peers.sh"
    }

    func make(_ plan: Plan, _ processor: Int) throws -> any BenchmarkSubject {
      guard let program else { return LoadToolSubject(name, plan, processor: processor) }
      return try PeerSubject(
        name, plan, program: "\(plan.peers ?? ".")/\(program)", options: options, processor: processor)
    }
  }

  /// The subjects that run unless the command line names others.
  private static let usual = ["bare", "transport", "empty", "engine", "floor"]
  /// The subjects that have only HTTP/1.1.
  private static let withoutHTTP2: Set = ["floor", "run", "curl"]

  static func make(_ plan: Plan, processor: Int) throws -> [any BenchmarkSubject] {
    let own = all(processor)
    let names =
      switch plan.subjects {
      case []: usual
      case ["all"]: own.map(\.name)
      default: plan.subjects
      }
    let isChosen = !plan.subjects.isEmpty && plan.subjects != ["all"]
    var subjects: [any BenchmarkSubject] = []
    for name in names + (isChosen || plan.peers == nil ? [] : peers.map(\.name)) {
      let obstacle: String?
      if let subject = own.first(where: { $0.name == name }) {
        obstacle = plan.usesHTTP2 && withoutHTTP2.contains(name) ? "has no HTTP/2" : nil
        if obstacle == nil { subjects.append(try subject.make(name, plan)) }
      } else if let peer = peers.first(where: { $0.name == name }) {
        obstacle = peer.obstacle(plan)
        if obstacle == nil { subjects.append(try peer.make(plan, processor)) }
      } else {
        throw unknown(name, own.map(\.name) + peers.map(\.name))
      }
      guard let obstacle else { continue }
      guard !isChosen else { throw BenchmarkError("\(name): \(obstacle)") }
      print("\(name): skipped; \(obstacle)")
    }
    return subjects
  }

  private static func unknown(_ name: String, _ known: [String]) -> BenchmarkError {
    BenchmarkError(
      "unknown subject \(name); use \(known.joined(separator: ", ")) or \"all\", or one of these, which run alone:"
        + " \(HeadersCost.name), \(MemoryCost.name), \(SwapCost.name) or \(EditToLive.name)")
  }
}
