import Sluice
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Sends the requests of a plan through one engine: one after the other, or several at the same time.
///
/// What goes to standard output keeps the order of the plan: of several responses, the first one that is not whole yet is
/// written, and the others wait.
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
  private let interruption: Interruption
  private let sides: SideOutputs
  private let limit: Int
  private let failsEarly: Bool
  private let state = Monitor(State())

  init(
    _ plan: SendPlan, _ setup: SendSetup, _ engine: Engine, _ arguments: ParsedArguments, _ interruption: Interruption,
    _ sides: SideOutputs
  ) throws(CommandError) {
    self.plan = plan
    self.setup = setup
    self.engine = engine
    self.interruption = interruption
    self.sides = sides
    limit = try Self.limit(arguments)
    failsEarly = arguments.has("fail-early")
    interruption.onSignal { [self] in stop() }
    sides.listen(
      ByteOutput.Listener(onRoom: { [self] in state.update { _ in } }, onFailure: { [self] _ in stop() }))
  }

  private static func limit(_ arguments: ParsedArguments) throws(CommandError) -> Int {
    let most = try arguments.integer("parallel-max", 1...10_000)
    guard arguments.has("parallel") else {
      guard most == nil else { throw CommandError(.usage, "send: --parallel-max needs -Z") }
      return 1
    }
    return most ?? 50
  }

  /// Begins no more requests, and cancels those in flight.
  private func stop() {
    let running = state.update { state in
      state.isStopped = true
      return Array(state.running.values)
    }
    for transfer in running { transfer.cancel() }
  }

  /// The transfers that run, by number.
  var running: [Int: SendTransfer] { state.withLock { $0.running } }

  /// How many requests there are.
  var count: Int { plan.count }

  /// How many of them are over.
  var doneCount: Int { state.withLock { $0.doneCount } }

  /// Sends all of them. Returns the status of the last one that failed, and the last result.
  ///
  /// - Parameter first: the transfer of the first request, which was made before the engine.
  func run(_ first: SendTransfer) throws(CommandError) -> (ExitStatus, TransactionResult?) {
    var (next, status, last) = (0, ExitStatus.succeeded, TransactionResult?.none)
    /// Those that write to standard output, in order; and the results of those whose turn has not come.
    var (line, waiting) = ([Int](), [Int: TransactionResult]())
    func note(_ new: ExitStatus) {
      if new != .succeeded { status = new }
      if new == .brokenPipe || failsEarly && new != .succeeded { stop() }
    }
    while true {
      while next < plan.count, running.count < limit, !state.withLock({ $0.isStopped }) {
        let transfer: SendTransfer
        do throws(CommandError) {
          transfer = next == 0 ? first : try SendTransfer(plan[next], setup)
        } catch {
          StandardError.say(PrintableText.of(error.message))
          note(error.status)
          next += 1
          continue
        }
        if transfer.isOrdered {
          if !line.isEmpty { transfer.hold() }
          line.append(next)
        }
        state.wait { [sides] state in state.isStopped || sides.hasRoom ? () : nil }
        begin(transfer, next)
        next += 1
      }
      guard !running.isEmpty else { break }
      let ended = state.wait { $0.ended.popFirst() }
      waiting[ended.index] = ended.result
      while let index = ready(line, waiting), let result = waiting.removeValue(forKey: index),
        let transfer = running[index]
      {
        transfer.release()
        last = result
        sides.note(result)
        note(try transfer.finish(result, interruption))
        line.removeAll { $0 == index }
        state.withLock { state in
          state.running[index] = nil
          state.doneCount += 1
        }
        if let first = line.first { running[first]?.release() }
      }
    }
    return (interruption.received.map { .interrupted(by: $0) } ?? status, last)
  }

  /// The next transfer that can be finished: it has ended, and no earlier one writes to standard output.
  private func ready(_ line: [Int], _ waiting: [Int: TransactionResult]) -> Int? {
    if let first = line.first, waiting[first] != nil { return first }
    return waiting.keys.filter { !line.contains($0) }.min()
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
