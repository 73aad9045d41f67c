import CSluice
import SluiceMessages
import SluicePipeline
import SluiceSupport

// Calls of a SERIAL instance. If another call is running, the host suspends the transaction of a new call until the
// turn is free.
extension PluginInstance {
  func runInTurn(_ call: InterceptorCall, _ exchange: Exchange) -> Verdict {
    guard let turns else { return perform(call, on: exchange) }
    if turns.tryBegin(on: exchange.loop.index) {
      defer { turns.end() }
      return perform(call, on: exchange)
    }
    guard let token = takeHostToken(exchange) else { return .fault(.noSuspension) }
    tryLater(call, token, on: exchange.loop, at: exchange.place)
    return .suspended
  }

  /// Posts an attempt to run the call. While the host closes, `post` can refuse the job; the transaction then ends with
  /// all other transactions.
  private func tryLater(
    _ call: InterceptorCall, _ token: SuspensionToken, on loop: any EventLoop, at place: (any AnyObject & Sendable)?
  ) {
    _ = runtime.post(to: loop) { [self] in runLater(call, token, on: loop, at: place) }
  }

  private func runLater(
    _ call: InterceptorCall, _ token: SuspensionToken, on loop: any EventLoop, at place: (any AnyObject & Sendable)?
  ) {
    guard let turns, turns.begin(on: loop.index, orLater: { [self] in tryLater(call, token, on: loop, at: place) })
    else { return }
    defer { turns.end() }
    guard takeHostToken(token), let environment = environment(of: token),
      let exchange = environment.suspensions.exchange(for: token)
    else { return }
    let verdict = exchange.at(place) { perform(call, on: exchange, offering: token) }
    if verdict != .suspended { _ = environment.suspensions.resume(token, verdict) }
  }

  /// Calls on_cancel at once if the turn is free, otherwise later on this loop. The loop does not block until the turn
  /// is free.
  func cancelInTurn(_ token: SuspensionToken, on loop: any EventLoop) {
    guard let turns, turns.begin(on: loop.index, orLater: { [self] in cancelLater(token, on: loop) }) else { return }
    defer { turns.end() }
    cancel(token)
  }

  private func cancelLater(_ token: SuspensionToken, on loop: any EventLoop) {
    // The call is counted before `isDestroyed` is read, so that the thread that destroys the instance waits for the
    // call.
    openWork.update { $0 += 1 }
    let isPosted = !isDestroyed && runtime.post(to: loop) { [self] in runCancel(token, on: loop) }
    if !isPosted { openWork.update { $0 -= 1 } }
  }

  private func runCancel(_ token: SuspensionToken, on loop: any EventLoop) {
    cancelInTurn(token, on: loop)
    openWork.update { $0 -= 1 }
  }
}

// Tokens that the host takes itself, to suspend a transaction before the plugin is called.
extension PluginInstance {
  func takeHostToken(_ exchange: Exchange) -> SuspensionToken? {
    guard let token = exchange.suspend() else { return nil }
    hostTokens.withLock { _ = $0.insert(token) }
    return token
  }

  /// Removes the token. Returns true if the token was still there: for the first caller only, and never after the call
  /// was cancelled.
  func takeHostToken(_ token: SuspensionToken) -> Bool { hostTokens.withLock { $0.remove(token) != nil } }

  func isWaiting(_ token: SuspensionToken) -> Bool { hostTokens.withLock { $0.contains(token) } }

  func environment(of token: SuspensionToken) -> LoopEnvironment? { environment(at: token.loopIndex) }

  func environment(at index: Int) -> LoopEnvironment? {
    runtime.loops.indices.contains(index) ? runtime.loops[index] : nil
  }
}

extension StageFailure {
  static let noSuspension = fault("the call could not be suspended: too many calls are suspended")
  static let noTurn = fault("a SERIAL plugin was not called, because its previous call does not return")
}
