import Sluice
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Sends the requests of a plan through one engine, one after the other or several at the same time.
///
/// Responses are written to standard output in the order of the plan: the first unfinished response is written, and the
/// others wait.
final class SendSession: Sendable {
  private struct Ended: Sendable {
    let index: Int
    let result: TransactionResult
  }

  private struct State: Sendable {
    var running: [Int: SendTransfer] = [:]
    var ended: [Ended] = []
    var isStopped = false
    var doneCount = 0
  }

  private let plan: SendPlan
  private let setup: SendSetup
  private let engine: Engine
  private let signals: ProcessSignals
  private let sides: SideOutputs
  private let limit: Int
  private let failsEarly: Bool
  private let state = Monitor(State())

  init(
    _ plan: SendPlan, _ setup: SendSetup, _ engine: Engine, _ arguments: ParsedArguments, _ signals: ProcessSignals,
    _ sides: SideOutputs
  ) {
    self.plan = plan
    self.setup = setup
    self.engine = engine
    self.signals = signals
    self.sides = sides
    limit = setup.parallelLimit
    failsEarly = arguments.has("fail-early")
    signals.onSignal { [self] in stop() }
    sides.listen(
      ByteOutput.Listener(onRoom: { [self] in state.update { _ in } }, onFailure: { [self] _ in stop() }))
  }

  /// Begins no further requests, and cancels those in flight.
  private func stop() {
    let running = state.update { state in
      state.isStopped = true
      return Array(state.running.values)
    }
    for transfer in running { transfer.cancel() }
  }

  /// The transfers in flight, by number.
  var running: [Int: SendTransfer] { state.withLock { $0.running } }

  /// The number of requests.
  var count: Int { plan.count }

  /// How many requests have ended.
  var doneCount: Int { state.withLock { $0.doneCount } }

  /// The progress of the requests. Only the thread that calls ``run(_:)`` uses it.
  private struct Course {
    /// The number of the next request.
    var next = 0
    /// The status of the last request that failed.
    var status = ExitStatus.succeeded
    var last: TransactionResult?
    /// The transfers that write to standard output, in order.
    var line: [Int] = []
    /// The results of transfers that have ended but cannot be finished yet.
    var waiting: [Int: TransactionResult] = [:]

    /// The next transfer that can be finished. It has ended and, if it writes to standard output, it is the first in
    /// ``line``.
    var ready: Int? {
      if let first = line.first, waiting[first] != nil { return first }
      return waiting.keys.filter { !line.contains($0) }.min()
    }
  }

  /// Sends all requests. Returns the status of the last request that failed, and the last result.
  ///
  /// - Parameter first: the transfer of the first request, which was made before the engine started.
  func run(_ first: SendTransfer) throws(CommandError) -> (ExitStatus, TransactionResult?) {
    var course = Course()
    while true {
      while course.next < plan.count, running.count < limit, !state.withLock({ $0.isStopped }) {
        beginNext(&course, first)
      }
      guard !running.isEmpty else { break }
      let ended = state.wait { $0.ended.popFirst() }
      course.waiting[ended.index] = ended.result
      while let index = course.ready { try finish(index, &course) }
    }
    return (signals.received.map { .interrupted(by: $0) } ?? course.status, course.last)
  }

  /// Begins the next request. If the request has become wrong since the check before the first one, for instance
  /// because a folder was removed, reports the error, and the other requests continue.
  private func beginNext(_ course: inout Course, _ first: SendTransfer) {
    let index = course.next
    course.next += 1
    let transfer: SendTransfer
    do throws(CommandError) { transfer = index == 0 ? first : try SendTransfer(plan, index, setup) } catch {
      StandardError.say(PrintableText.of(error.message))
      // The status of wrong usage promises that nothing was sent.
      return note(error.status == .usage ? .failed : error.status, &course)
    }
    if transfer.isOrdered {
      if !course.line.isEmpty { transfer.hold() }
      course.line.append(index)
    }
    state.wait { [sides] state in state.isStopped || sides.hasRoom ? () : nil }
    begin(transfer, index)
  }

  private func finish(_ index: Int, _ course: inout Course) throws(CommandError) {
    guard let result = course.waiting.removeValue(forKey: index), let transfer = running[index] else { return }
    transfer.release()
    course.last = result
    sides.note(result)
    note(try transfer.finish(result, signals), &course)
    course.line.removeAll { $0 == index }
    state.withLock { state in
      state.running[index] = nil
      state.doneCount += 1
    }
    if let first = course.line.first { running[first]?.release() }
  }

  private func note(_ status: ExitStatus, _ course: inout Course) {
    if status != .succeeded { course.status = status }
    if status == .brokenPipe || failsEarly && status != .succeeded { stop() }
  }

  private func begin(_ transfer: SendTransfer, _ index: Int) {
    let isStopped = state.withLock { state in
      state.running[index] = transfer
      return state.isStopped
    }
    transfer.begin(on: engine, sides) { [self] result in
      state.update { $0.ended.append(Ended(index: index, result: result)) }
    }
    if isStopped { transfer.cancel() }
  }
}

extension Array {
  fileprivate mutating func popFirst() -> Element? { isEmpty ? nil : removeFirst() }
}
