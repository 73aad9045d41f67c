import SluiceMessages

/// The data of a transaction whose request wants a journal or a recording. Confined to its loop.
final class TransactionNotes {
  let journal: StageJournal?
  let recorder: ExchangeRecorder?

  init(_ journal: StageJournal?, _ recorder: ExchangeRecorder?) {
    self.journal = journal
    self.recorder = recorder
  }
}

/// The parts that go into the result.
final class ResultNotes: Sendable {
  let calls: [StageCall]?
  let exchange: RecordedExchange?

  init(_ calls: [StageCall]?, _ exchange: RecordedExchange?) {
    self.calls = calls
    self.exchange = exchange
  }
}

// None of these functions is inlined into the code that every transaction runs.
extension Transaction {
  @inline(never)
  func makeNotes() {
    let request = result.originalRequest
    if request.wantsExplanation { exchange.explanation = [] }
    guard request.wantsJournal || request.wantsRecording else { return }
    let settings = pipeline.settings
    let journal = request.wantsJournal ? StageJournal(settings.journal, watcher: environment.stageWatcher) : nil
    guard request.wantsRecording else {
      notes = TransactionNotes(journal, nil)
      return
    }
    let recorder = ExchangeRecorder(request, exchange.parent, on: environment, settings.transfer)
    exchange.nativeRequest.body = recorder.tapped(request.body)
    notes = TransactionNotes(journal, recorder)
  }

  @inline(never)
  func noteCall(_ binding: StageBinding) {
    guard let journal = notes?.journal, let callback = StageCall.Callback(exchange.phase) else { return }
    journal.begin(binding.name, callback, exchange)
  }

  @inline(never)
  func noteAnswer(_ verdict: Verdict) { notes?.journal?.end(verdict, exchange) }

  @inline(never)
  func noteSuspension() { notes?.journal?.suspend() }

  @inline(never)
  func notePiece(
    _ binding: StageBinding, _ side: MessageSide, _ piece: [UInt8], _ verdict: PieceVerdict, _ output: [UInt8]
  ) {
    notes?.journal?.pass(binding.name, side, piece, verdict == .pass ? piece : output, verdict.verdict, exchange)
  }

  /// Sends the request. If there is a recorder, it sits between the transport and the transaction.
  @inline(never)
  func sendObserved() {
    let observer = notes?.recorder?.observe(self) { [weak self] in self?.transfer?.resumeReceiving() }
    transfer = environment.transport.start(
      exchange.nativeRequest, transferOptions, observer: observer ?? self)
  }

  @inline(never)
  func noteDisposition(_ disposition: BodyDisposition) {
    if disposition == .discard { notes?.recorder?.willDiscard() }
  }

  /// Called once, when the transaction is over.
  @inline(never)
  func finishNotes() {
    result.notes = ResultNotes(notes?.journal?.finish(exchange), notes?.recorder?.finish())
  }
}

extension Request {
  /// Whether the request wants more than every result has.
  var wantsNotes: Bool { wantsExplanation || wantsJournal || wantsRecording }
}
