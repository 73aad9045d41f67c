import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Resolves each name once for all callers that wait for it, on a few threads for the whole process.
///
/// A thread starts when a name has to be looked up and ends when no name waits; ``NameLookUps`` decides how many threads
/// there are. A failure is remembered for a moment, so that a host that does not exist costs one look-up per second and
/// not one per request.
package final class NameResolver: Sendable {
  /// Numeric addresses in the order to try, or why the name has no address.
  package typealias Answer = Result<[String], NameError>
  typealias Reply = @Sendable (Answer) -> Void

  package static let shared = NameResolver()

  private let lookUps: Locked<NameLookUps<Reply>>
  private let now: @Sendable () -> Instant
  private let lookUp: @Sendable (String) -> Answer

  /// - Parameter lookUp: called on a thread of the resolver and may block; by default the system's resolver.
  package convenience init(lookUp: @escaping @Sendable (String) -> Answer = SystemNames.addresses) {
    self.init(now: { Instant(nanoseconds: MonotonicClock.now.nanoseconds) }, lookUp: lookUp)
  }

  /// - Parameter now: the clock by which failures are forgotten.
  init(now: @escaping @Sendable () -> Instant, lookUp: @escaping @Sendable (String) -> Answer) {
    lookUps = Locked(NameLookUps())
    self.now = now
    self.lookUp = lookUp
  }

  /// Looks the name up, or joins a look-up under way. The answer comes on a thread of the resolver; a failure that is
  /// already known comes before this returns.
  package func addresses(of name: String, reply: @escaping @Sendable (Answer) -> Void) {
    switch lookUps.withLock({ $0.ask(name, reply, at: now()) }) {
    case .failed(let error): reply(.failure(error))
    case .needsThread: startThread()
    case .joined: break
    }
  }

  private func startThread() {
    guard !SystemThread.start("sluice-dns", { [self] in run() }) else { return }
    let error = NameError("no thread to look it up on; raise the limit of processes (ulimit -u)", .notAsked)
    for reply in lookUps.withLock({ $0.threadDidNotStart() }) { reply(.failure(error)) }
  }

  private func run() {
    while let name = lookUps.withLock({ $0.next(at: now()) }) {
      let answer = lookUp(name)
      for reply in lookUps.withLock({ $0.answered(name, answer, at: now()) }) { reply(answer) }
    }
  }
}
