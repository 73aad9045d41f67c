import SluiceLocks
import CSluice
import SluicePipeline

// Calls of a BLOCKING instance: on a thread of the pool, with a copy of the exchange that the loop takes over when the
// call returns in time.
extension PluginInstance {
  func runBlocking(_ call: StageCall, _ exchange: Exchange) -> Verdict {
    do {
      try exchange.settleRequest()
      try exchange.settleResponse()
    } catch { return .fail(StageFailure(code: error.code, message: "\(error)")) }
    // Made before the copy, so that both keep the same.
    _ = record(exchange)
    guard runtime.blockingCalls.enter() else { return .fault(.tooManyBlockingCalls(runtime.blockingCalls.limit)) }
    guard let token = takeHostToken(exchange) else {
      runtime.blockingCalls.leave()
      return .fault(.noSuspension)
    }
    let copy = DetachedExchange(exchange.detachedCopy())
    if submit(call, token, copy) { return .suspended }
    runtime.blockingCalls.leave()
    _ = takeHostToken(token)
    return .fault(.noThread)
  }

  package var overdueWords: String { isBlocking ? "its call, which is BLOCKING, did not return" : "it did not resume" }

  private func submit(_ call: StageCall, _ token: SuspensionToken, _ copy: DetachedExchange) -> Bool {
    openWork.update { $0 += 1 }
    let isSubmitted = runtime.pool.submit { [self] in
      work(call, token, copy)
      openWork.update { $0 -= 1 }
    }
    if !isSubmitted { openWork.update { $0 -= 1 } }
    return isSubmitted
  }

  /// On the pool. A call that finds another under way gives its thread back until that has ended.
  private func work(_ call: StageCall, _ token: SuspensionToken, _ copy: DetachedExchange) {
    let isTurn = turns?.begin(orLater: { [self] in
      if submit(call, token, copy) { return }
      runtime.blockingCalls.leave()
      copy.drop()
      deliver(.fault(.noThread), token, copy)
    })
    if isTurn == false { return }
    let verdict = isWaiting(token) ? copy.perform { perform(call, on: $0, isBlocking: true) } : nil
    turns?.end()
    runtime.blockingCalls.leave()
    deliver(verdict, token, copy)
  }

  /// Takes the copy back to the loop, where it is dropped when nobody waits for it any more.
  private func deliver(_ verdict: Verdict?, _ token: SuspensionToken, _ copy: DetachedExchange) {
    guard let environment = environment(of: token) else { return copy.drop() }
    let isPosted = runtime.post(to: environment.loop) { [self] in
      let copy = copy.take()
      guard takeHostToken(token), let verdict, let exchange = environment.suspensions.exchange(for: token) else {
        return
      }
      if let copy { exchange.adopt(copy) }
      _ = environment.suspensions.resume(token, verdict)
    }
    if !isPosted { copy.drop() }
  }
}

/// The copy that a BLOCKING call works on. It goes from the loop to a thread of the pool and back, and leaves nothing
/// behind: what the plugin keeps with it must not be released by a thread that happens to be slow to let go.
///
/// `@unchecked Sendable`: one thread has it at a time, and hands it on by `submit` and `post`.
private final class DetachedExchange: @unchecked Sendable {
  private var exchange: Exchange?

  init(_ exchange: Exchange) { self.exchange = exchange }

  func perform(_ call: (Exchange) -> Verdict?) -> Verdict? { exchange.flatMap(call) }

  func take() -> Exchange? {
    defer { exchange = nil }
    return exchange
  }

  func drop() { exchange = nil }
}

extension StageFailure {
  static let noThread = fault("no thread could be had for a blocking call")

  static func tooManyBlockingCalls(_ limit: Int) -> StageFailure {
    StageFailure(
      code: TransactionError.Code.tooManyBlockingCalls,
      message: "\(limit) calls of BLOCKING stages are under way, as many as limits.blockingCalls allows;"
        + " send fewer requests at a time, or raise it")
  }
}
