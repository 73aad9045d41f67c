import Glibc
import SluiceLocks

/// Resolves each name once for all who wait for it, on at most four threads for the whole process.
///
/// libcurl's own resolver starts a thread per waiting transfer. Threads here start when there is something to look up
/// and end with the last of it. Failures are shared by those who wait and then forgotten.
public final class NameResolver: Sendable {
  /// Numeric addresses in the order to try, or the system's words for the failure.
  public typealias Answer = Result<[String], NameError>

  public static let shared = NameResolver()
  public static let maximumThreads = 4

  private struct State {
    var waiting: [String: [@Sendable (Answer) -> Void]] = [:]
    var queue: [String] = []
    var threads = 0
  }

  private let state = Locked(State())
  private let lookUp: @Sendable (String) -> Answer

  /// - Parameter lookUp: called on a thread of the resolver's and may block; the system's resolver unless given.
  public init(lookUp: @escaping @Sendable (String) -> Answer = SystemNames.addresses) { self.lookUp = lookUp }

  /// Looks the name up, or joins a look-up under way. The answer comes on a thread of the resolver's.
  public func addresses(of name: String, reply: @escaping @Sendable (Answer) -> Void) {
    let needsThread = state.withLock { state -> Bool in
      if state.waiting[name] != nil {
        state.waiting[name]?.append(reply)
        return false
      }
      state.waiting[name] = [reply]
      state.queue.append(name)
      guard state.threads < Self.maximumThreads else { return false }
      state.threads += 1
      return true
    }
    if needsThread { startThread() }
  }

  private func startThread() {
    guard !DetachedThread.start("sluice-dns", { [self] in run() }) else { return }
    let stranded = state.withLock { state -> [@Sendable (Answer) -> Void] in
      state.threads -= 1
      guard state.threads == 0 else { return [] }
      let replies = state.waiting.values.flatMap { $0 }
      state.waiting = [:]
      state.queue = []
      return replies
    }
    for reply in stranded { reply(.failure(NameError("no thread to look it up on"))) }
  }

  private func run() {
    while let name = nextName() {
      let answer = lookUp(name)
      let replies = state.withLock { $0.waiting.removeValue(forKey: name) } ?? []
      for reply in replies { reply(answer) }
    }
  }

  private func nextName() -> String? {
    state.withLock { state in
      guard !state.queue.isEmpty else {
        state.threads -= 1
        return nil
      }
      return state.queue.removeFirst()
    }
  }
}

/// Why a name has no address, in the system's words.
public struct NameError: Error, Sendable, Hashable {
  public let reason: String
  public init(_ reason: String) { self.reason = reason }
}
