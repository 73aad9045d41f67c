import Glibc
import SluiceAssembly
import SluiceForeign
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceSupport

/// What this process says about itself in the plan folder, for `sluice envoy status`.
struct PlanStatus: Sendable {
  /// The number of the plan that serves.
  private(set) var plan = 0
  private var since = 0
  private var swaps = -1
  private var refused = 0
  private var lastRefusal: (plan: Int?, reason: String)?
  private var reported = (swaps: 0, refused: 0)

  mutating func serves(_ plan: Int) {
    self.plan = plan
    since = time(nil)
    swaps += 1
  }

  /// Returns whether this refusal differs from the last one.
  mutating func refuses(_ plan: Int?, _ reason: String) -> Bool {
    if let lastRefusal, lastRefusal.plan == plan, lastRefusal.reason == reason { return false }
    refused += 1
    lastRefusal = (plan, reason)
    return true
  }

  /// What has changed since the last call.
  mutating func takeChanges() -> EnvoyMetrics.PlanChanges {
    defer { reported = (swaps, refused) }
    return EnvoyMetrics.PlanChanges(swaps: swaps - reported.swaps, refused: refused - reported.refused, plan: plan)
  }

  func write(to folder: PlanFolder, _ snapshot: Snapshot) {
    let counts = snapshot.pipeline.counts
    let document: JSONValue = [
      "pid": JSONValue(Int64(getpid())), "version": JSONValue(Product.version), "plan": JSONValue(Int64(plan)),
      "since": JSONValue(Int64(since)), "swaps": JSONValue(Int64(swaps)), "refused": JSONValue(Int64(refused)),
      "counts": counts.document(),
    ]
    if let lastRefusal {
      let refusal: JSONValue = ["reason": JSONValue(lastRefusal.reason)]
      if let plan = lastRefusal.plan { refusal["plan"] = JSONValue(Int64(plan)) }
      document["lastRefusal"] = refusal
    }
    document["plugins"] = .array(
      of: snapshot.parts.compactMap { part -> JSONValue? in
        guard let library = part.plugin.library, let hash = part.generation?.hash else { return nil }
        return [
          "name": JSONValue(part.plugin.name), "library": JSONValue(library), "hash": JSONValue(hash.hex),
        ]
      })
    guard let text = try? document.serialized() else { return }
    mkdir(folder.statusFolder, 0o700)
    let path = Self.path(in: folder)
    let draft = "\(path).new"
    do {
      guard
        let file = FileDescriptor(opening: draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode: 0o600),
        file.writeAll(text + [0x0A])
      else { return }
    }
    rename(draft, path)
  }

  static func remove(from folder: PlanFolder) { unlink(path(in: folder)) }

  private static func path(in folder: PlanFolder) -> String { "\(folder.statusFolder)/\(getpid()).json" }
}
