import CSluice
import SluiceMessages
import SluicePipeline
import SluiceSupport
import Synchronization

// Calls of a BLOCKING instance run on a thread of the pool, with a copy of the exchange. The loop takes the copy over
// if the call returns in time.
extension PluginInstance {
  func runBlocking(_ call: InterceptorCall, _ exchange: Exchange) -> Verdict {
    do {
      try exchange.settleRequest()
      try exchange.settleResponse()
    } catch { return .fail(StageFailure(code: error.code, message: "\(error)")) }
    // The record is created before the exchange is copied, so that the exchange and its copy share one record.
    _ = record(exchange)
    guard runtime.blockingCalls.enter() else { return .fault(.tooManyBlockingCalls(runtime.blockingCalls.limit)) }
    guard let token = takeHostToken(exchange) else {
      runtime.blockingCalls.leave()
      return .fault(.noSuspension)
    }
    if submit(BlockingCall(self, call, token, exchange.detachedCopy())) { return .suspended }
    _ = takeHostToken(token)
    return .fault(.noThread)
  }

  package var overdueWords: String { isBlocking ? "its BLOCKING call did not return" : "it did not resume" }

  private func submit(_ call: BlockingCall) -> Bool {
    runtime.pool.submit(
      BlockingPool.Job { [self] in
        work(call)
      } threadEnded: { [self] in
        threadEnded(in: call)
      })
  }

  /// Runs on the pool. If the instance is SERIAL and another call has the turn, this call gives its thread back, and is
  /// submitted again when the turn is free.
  private func work(_ call: BlockingCall) {
    let isTurn = turns?.begin(
      on: nil,
      orLater: { [self] in
        if !submit(call) { deliver(.fault(.noThread), of: call) }
      })
    if isTurn == false { return }
    let verdict = isWaiting(call.token) ? call.perform() : nil
    turns?.end()
    deliver(verdict, of: call)
  }

  /// Called if the plugin ends the thread with `pthread_exit`, while the thread is ending.
  private func threadEnded(in call: BlockingCall) {
    hostHandle.log(.error, "has ended the thread of a BLOCKING call with pthread_exit")
    turns?.end()
    deliver(.fault(.endedThread), of: call)
  }

  /// Returns the copy of the exchange to the loop. If the transaction does not wait for this call any more, the loop
  /// drops the copy.
  private func deliver(_ verdict: Verdict?, of call: BlockingCall) {
    call.didReturn()
    guard let environment = environment(of: call.token) else { return call.end() }
    let isPosted = runtime.post(to: environment.loop) { [self] in
      adopt(verdict, of: call, environment)
      call.end()
    }
    if !isPosted { call.end() }
  }

  private func adopt(_ verdict: Verdict?, of call: BlockingCall, _ environment: LoopEnvironment) {
    let copy = call.takeCopy()
    guard takeHostToken(call.token), let verdict, let exchange = environment.suspensions.exchange(for: call.token)
    else {
      return
    }
    if let copy { exchange.adopt(copy) }
    _ = environment.suspensions.resume(call.token, verdict)
  }
}

/// A BLOCKING call with its copy of the exchange.
///
/// The call counts as work of its instance until the loop has taken back and released the copy. Therefore the plugin's
/// data for the transaction is released before the instance is destroyed.
///
/// `@unchecked Sendable`: one thread has the copy at a time, and passes it on by `submit` and `post`. If the job is
/// dropped, the call ends too.
private final class BlockingCall: @unchecked Sendable {
  let token: SuspensionToken
  private let instance: PluginInstance
  private let call: InterceptorCall
  private var copy: Exchange?
  private let hasReturned = Atomic<Bool>(false)
  private let isOver = Atomic<Bool>(false)

  init(_ instance: PluginInstance, _ call: InterceptorCall, _ token: SuspensionToken, _ copy: Exchange) {
    self.instance = instance
    self.call = call
    self.token = token
    self.copy = copy
    instance.openWork.update { $0 += 1 }
  }

  deinit { end() }

  func perform() -> Verdict? { copy.flatMap { instance.perform(call, on: $0, isBlocking: true) } }

  func takeCopy() -> Exchange? {
    defer { copy = nil }
    return copy
  }

  /// Called when the call is over, so that another call can begin.
  func didReturn() {
    if !hasReturned.exchange(true, ordering: .relaxed) { instance.runtime.blockingCalls.leave() }
  }

  func end() {
    guard !isOver.exchange(true, ordering: .relaxed) else { return }
    didReturn()
    copy = nil
    instance.openWork.update { $0 -= 1 }
  }
}

extension StageFailure {
  static let noThread = fault("no thread is available for a blocking call")
  static let endedThread = fault("it ended the thread of its BLOCKING call with pthread_exit")

  static func tooManyBlockingCalls(_ limit: Int) -> StageFailure {
    StageFailure(
      code: .tooManyBlockingCalls,
      message:
        "\(limit) calls of BLOCKING stages are under way, as many as limits.blockingCalls allows; send fewer requests "
        + "at a time, or raise the limit")
  }
}
