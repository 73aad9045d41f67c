package import SluiceRecords
import Synchronization

/// The state that the transactions of one loop share. Unchecked because the engine confines it to that loop.
package final class LoopEnvironment: @unchecked Sendable {
  package let loop: any EventLoop
  package let transport: any Transport
  package let suspensions: SuspensionTable
  /// Whether the engine waits before another attempt; false in a replay.
  package var waitsToRetry = true
  /// The transport for call-outs of plugins in a trial; nil means ``transport``.
  package var callOutTransport: (any Transport)?
  /// Called before each call of a stage in transactions with a journal.
  package var stageWatcher: ((_ stage: String, _ callback: StageCall.Callback) -> Void)?
  /// Decides, for each running transaction, which thread gives its result.
  let answers = AnswerTable()
  private var running: [Transaction?] = []
  /// ``runningCount`` for other threads, and the number of these transactions that got their result from another
  /// thread.
  private let runningNow = Atomic<Int>(0)
  private let stalledNow = Atomic<Int>(0)
  private var vacant: [Int] = []
  private var spareTimers: [LoopTimer] = []
  private var begunCount: UInt64 = 0
  private var retryBudget = RetryBudget()

  /// - Parameter suspensionChunks: limits the number of suspended calls; see ``SuspensionTable/init(loop:chunks:)``.
  package init(loop: any EventLoop, transport: any Transport, suspensionChunks: Int = SuspensionTable.maximumChunks) {
    self.loop = loop
    self.transport = transport
    suspensions = SuspensionTable(loop: loop, chunks: suspensionChunks)
  }

  /// Transactions that have begun and not completed. [loop]
  package var runningCount: Int { running.count - vacant.count }

  /// Transactions that have begun and have no result. From any thread; the number may be slightly out of date.
  package var owedCount: Int { runningNow.load(ordering: .relaxed) - stalledNow.load(ordering: .relaxed) }

  /// Counts transactions that got their result from another thread; a negative number means that the loop has since
  /// ended them.
  func countStalled(_ count: Int) { stalledNow.wrappingAdd(count, ordering: .relaxed) }

  /// Ends every transaction with that error, and calls tracers and completions. [loop]
  package func abortAll(_ error: TransactionError) {
    for transaction in running { transaction?.run(.abort(error)) }
  }

  func running(on pipeline: Pipeline) -> [Transaction] {
    running.compactMap { $0?.pipeline === pipeline ? $0 : nil }
  }

  func enter(_ transaction: Transaction) -> Int {
    begunCount &+= 1
    defer { runningNow.store(runningCount, ordering: .relaxed) }
    guard let place = vacant.popLast() else {
      running.append(transaction)
      return running.count - 1
    }
    running[place] = transaction
    return place
  }

  /// Whether the retry policy may make another attempt now; if so, counts the attempt.
  func takeRetry(ratio: Double, now: Instant) -> Bool {
    retryBudget.take(ratio: ratio, transactions: begunCount, now: now)
  }

  func leave(_ place: Int) {
    running[place] = nil
    vacant.append(place)
    runningNow.store(runningCount, ordering: .relaxed)
  }

  /// Returns a timer that an earlier transaction has returned, perhaps still armed and without a target; otherwise a
  /// new one.
  func takeTimer() -> LoopTimer { spareTimers.popLast() ?? LoopTimer() }

  /// Takes back a timer. It stays armed, because the next transaction will want a later deadline: to disarm it and to
  /// arm it again would cost more than to let it fire once for nothing.
  func giveBack(_ timer: LoopTimer) {
    timer.target = nil
    spareTimers.append(timer)
  }
}
