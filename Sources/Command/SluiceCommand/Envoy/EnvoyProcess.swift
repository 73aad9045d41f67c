import Glibc
import SluiceForeign
import SluiceJSON
import SluiceSupport

/// What an Envoy says about itself in a plan folder.
struct EnvoyProcess {
  /// How long running processes may take to answer.
  private static let patience = Duration.seconds(2)

  let pid: Int
  let plan: Int
  /// The plan that it has refused last, and why.
  let refusedPlan: Int?
  let refusal: String?
  let document: JSONValue
  private let written: timespec

  private init?(_ path: String) {
    guard let status = SystemPath.status(of: path), let bytes = try? PlanFolder.contents(of: path, limitBytes: 1 << 20),
      let document = try? JSONValue(parsing: bytes), let pid = document["pid"]?.integer,
      let plan = document["plan"]?.integer, kill(pid_t(truncatingIfNeeded: pid), 0) == 0 || errno == EPERM
    else { return nil }
    self.pid = Int(pid)
    self.plan = Int(plan)
    refusedPlan = (document["lastRefusal"]?["plan"]?.integer).map { Int($0) }
    refusal = document["lastRefusal"]?["reason"]?.string
    self.document = document
    written = status.st_mtim
  }

  /// The running processes, in the order of their numbers, as they described themselves last.
  static func all(in folder: PlanFolder) -> [EnvoyProcess] {
    FolderListing.names(in: folder.statusFolder).filter { $0.hasSuffix(".json") }
      .compactMap { EnvoyProcess("\(folder.statusFolder)/\($0)") }.sorted { $0.pid < $1.pid }
  }

  /// The running processes, after each was asked to describe itself.
  static func asked(in folder: PlanFolder) -> [EnvoyProcess] {
    let before = Dictionary(all(in: folder).map { ($0.pid, $0.written) }) { first, _ in first }
    folder.ask()
    let deadline = MonotonicClock.now + patience
    while true {
      let processes = all(in: folder)
      let hasAnswered = processes.allSatisfy { process in
        guard let earlier = before[process.pid] else { return true }
        return (earlier.tv_sec, earlier.tv_nsec) != (process.written.tv_sec, process.written.tv_nsec)
      }
      if hasAnswered || MonotonicClock.now >= deadline { return processes }
      usleep(5_000)
    }
  }
}
