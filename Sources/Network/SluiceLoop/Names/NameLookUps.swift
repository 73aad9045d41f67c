import SluicePipeline
import SluiceSupport

/// Decides which names are looked up at the same time, and who gets an answer. It performs no look-ups:
/// ``NameResolver`` has the threads.
///
///     ask ──► failed               a remembered failure, or too many names wait
///        ├──► joined               somebody else asked; or all threads are busy
///        └──► needsThread ──► next ──► NAME ──► answered ──► replies
///                              ▲ └───► nil: the thread ends      │
///                              └─────────────────────────────────┘
///
/// Each name gets a thread at once, up to a limit; beyond it, names wait in the order of their questions. Names whose
/// last look-up was slow wait in a line of their own and may use only some of the threads, so that they cannot stall
/// the other names.
struct NameLookUps<Reply> {
  struct Limits {
    /// The maximum number of look-ups at the same time.
    var threads = 32
    /// The maximum number of look-ups at the same time for names whose last look-up was slow.
    var slowThreads = 24
    /// The maximum number of names that wait for a thread.
    var waitingNames = 16_384
    /// The maximum number of names that are remembered as failed, and of names that are remembered as slow.
    var rememberedNames = 4096
  }

  enum Asked: Hashable {
    case joined
    case needsThread
    case failed(NameError)
  }

  private struct LookUp {
    let began: Instant
    let isSlow: Bool
  }

  /// A look-up that takes at least this long is slow.
  static var slowness: Duration { .seconds(1) }
  /// How long a name counts as slow. This must be longer than the time for which an address is used; otherwise the name
  /// would be forgotten before its next look-up.
  static var slownessMemory: Duration { .seconds(600) }

  private let limits: Limits
  /// The replies to call with the answer, for each name that waits or is being looked up.
  private var replies: [String: [Reply]] = [:]
  private var line = FIFOQueue<String>()
  private var slowLine = FIFOQueue<String>()
  private var isSlowNext = false
  private var underWay: [String: LookUp] = [:]
  private var slowUnderWay = 0
  /// Threads that look a name up, or are about to call ``next(at:)``.
  private var threads = 0
  private var failures: ExpiringTable<NameError>
  private var slowNames: ExpiringTable<Void>

  init(_ limits: Limits = Limits()) {
    self.limits = limits
    failures = ExpiringTable(limit: limits.rememberedNames)
    slowNames = ExpiringTable(limit: limits.rememberedNames)
  }

  /// Asks for a name. After `needsThread` the caller starts a thread, which calls ``next(at:)``; if no thread can be
  /// started, the caller calls ``threadDidNotStart()``. The reply is kept, except after `failed`.
  mutating func ask(_ name: String, _ reply: Reply, at now: Instant) -> Asked {
    if replies[name] != nil {
      replies[name]?.append(reply)
      return .joined
    }
    if let failure = failures.value(of: name, at: now) { return .failed(failure) }
    guard line.count + slowLine.count < limits.waitingNames else { return .failed(tooMany) }
    replies[name] = [reply]
    let isSlow = slowNames.value(of: name, at: now) != nil
    if isSlow { slowLine.append(name) } else { line.append(name) }
    guard threads < limits.threads, !isSlow || slowUnderWay < limits.slowThreads else { return .joined }
    threads += 1
    return .needsThread
  }

  /// The name that a thread looks up next; after nil the thread must end.
  mutating func next(at now: Instant) -> String? {
    let maySlow = !slowLine.isEmpty && slowUnderWay < limits.slowThreads
    // Takes names from the two lines in turn, so that neither line waits for the other to become empty.
    let isSlow = maySlow && (isSlowNext || line.isEmpty)
    guard let name = isSlow ? slowLine.popFirst() : line.popFirst() else {
      threads -= 1
      return nil
    }
    isSlowNext = !isSlow
    if isSlow { slowUnderWay += 1 }
    underWay[name] = LookUp(began: now, isSlow: isSlow)
    return name
  }

  /// The replies to call with the answer. Each is returned only once.
  mutating func answered(_ name: String, _ answer: NameResolver.Answer, at now: Instant) -> [Reply] {
    guard let lookUp = underWay.removeValue(forKey: name) else { return [] }
    if lookUp.isSlow { slowUnderWay -= 1 }
    if now.duration(since: lookUp.began) >= Self.slowness {
      slowNames.add((), for: name, until: now + Self.slownessMemory, at: now)
    } else {
      slowNames.remove(name)
    }
    if case .failure(let error) = answer { failures.add(error, for: name, until: now + error.memory, at: now) }
    return replies.removeValue(forKey: name) ?? []
  }

  /// Returns the callers that must be told of a failure: all of them if this was the only thread. Otherwise returns
  /// none, because the other threads look up the names that wait.
  mutating func threadDidNotStart() -> [Reply] {
    threads -= 1
    guard threads == 0 else { return [] }
    let stranded = replies.values.flatMap { $0 }
    replies = [:]
    line = FIFOQueue()
    slowLine = FIFOQueue()
    return stranded
  }

  private var tooMany: NameError {
    NameError(
      "\(limits.waitingNames) names already wait to be looked up; send requests to fewer hosts at the same time",
      .notAsked)
  }
}
