package import Synchronization

/// The state that the transactions of one loop share. Unchecked because the engine confines it to that loop.
package final class LoopEnvironment: @unchecked Sendable {
  package let loop: any EventLoop
  package let transport: any Transport
  package let suspensions: SuspensionTable
  /// Whether the engine waits before another attempt; false in a replay.
  package var waitsToRetry = true
  /// The transport for call-outs of plugins in a trial; nil means ``transport``.
  package var callOutTransport: (any Transport)?
  /// Keeps the last call-outs of plugins for recordings; nil without recordings. All loops of an engine share one log.
  package var callOuts: (any CallOutLog)?
  /// Called before each call of a stage in transactions with a journal.
  package var stageWatcher: ((_ stage: String, _ callback: StageCall.Callback) -> Void)?
  /// Whether the loop is known to be stuck. Work that any loop can do then goes to other loops. [any]
  package let isStuck = Atomic<Bool>(false)
  /// Decides, for each running transaction, which thread gives its result.
  let answers = AnswerTable()
  private var seats = TransactionSeats()
  /// Two counts that other threads can read: a copy of ``runningCount``, and the number of running transactions that
  /// got their result from another thread.
  private let runningNow = Atomic<Int>(0)
  private let stalledNow = Atomic<Int>(0)
  private var begunCount: UInt64 = 0
  private var retryBudget = RetryBudget()

  /// - Parameter suspensionChunks: limits the number of suspended calls; see ``SuspensionTable/init(loop:chunks:)``.
  package init(loop: any EventLoop, transport: any Transport, suspensionChunks: Int = SuspensionTable.maximumChunks) {
    self.loop = loop
    self.transport = transport
    suspensions = SuspensionTable(loop: loop, chunks: suspensionChunks)
  }

  /// The number of transactions that have begun and not completed. [loop]
  package var runningCount: Int { seats.takenCount }

  /// The number of transactions that have begun and have no result. Any thread may read it; it may be slightly out of
  /// date.
  package var owedCount: Int { runningNow.load(ordering: .relaxed) - stalledNow.load(ordering: .relaxed) }

  /// Changes the count of transactions that got their result from another thread. A negative number removes
  /// transactions that the loop has ended since then.
  func countStalled(_ count: Int) { stalledNow.wrappingAdd(count, ordering: .relaxed) }

  /// Ends every transaction with that error, and calls tracers and completions. [loop]
  package func abortAll(_ error: TransactionError) {
    for transaction in seats.transactions { transaction.run(.abort(error)) }
  }

  func running(on pipeline: Pipeline) -> [Transaction] {
    seats.transactions.filter { $0.pipeline === pipeline }
  }

  /// Takes a seat for a transaction that begins.
  func takeSeat() -> TransactionSeat { seats.take(from: answers) }

  /// From here on the transaction counts as running.
  func enter(_ transaction: Transaction, _ seat: TransactionSeat) {
    begunCount &+= 1
    seat.transaction = transaction
    runningNow.store(seats.takenCount, ordering: .relaxed)
  }

  /// Whether the retry policy may make another attempt now; if so, counts the attempt.
  func takeRetry(ratio: Double, now: Instant) -> Bool {
    retryBudget.take(ratio: ratio, transactions: begunCount, now: now)
  }

  /// Takes back the seat of a transaction that has ended.
  /// - Parameter isAnswered: whether another thread has given the result.
  func leave(_ seat: TransactionSeat, isAnswered: Bool) {
    if isAnswered { seats.remove(seat) } else { seats.giveBack(seat) }
    runningNow.store(seats.takenCount, ordering: .relaxed)
  }
}
