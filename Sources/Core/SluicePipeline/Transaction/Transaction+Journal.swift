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

// None of these functions is inlined into code that every transaction runs.
extension Transaction {
  @inline(never)
  func makeNotes() {
    let request = result.originalRequest
    if request.wantsExplanation { explanation = [] }
    guard request.wantsJournal || request.wantsRecording else { return }
    let settings = pipeline.settings
    let journal = request.wantsJournal ? StageJournal(settings.journal, watcher: environment.stageWatcher) : nil
    guard request.wantsRecording else {
      notes = TransactionNotes(journal, nil)
      return
    }
    let options = request.isSample ? settings.transfer.forSamples : settings.transfer
    let recorder = ExchangeRecorder(
      request, parent, at: loop.wallClock, environment.transport, options, environment.callOuts)
    requestForms.native.body = recorder.tapped(request.body)
    notes = TransactionNotes(journal, recorder)
  }

  @inline(never)
  func noteCall(_ binding: StageBinding) {
    if explanation != nil, phase == .request {
      explainRequestStage(binding.name, messages.request?.headers ?? requestForms.native.headers)
    }
    guard let journal = notes?.journal, let callback = StageCall.Callback(phase) else { return }
    let call = StageCall(attempt: attempt, hop: hop, stage: binding.name, callback: callback)
    journal.begin(call, messages)
  }

  /// Explains that a request stage is not called.
  @inline(never)
  func explainMismatch(_ binding: StageBinding) {
    guard explanation != nil, binding.capabilities.contains(.request) else { return }
    explainRequest(note: binding.mismatchWords)
  }

  @inline(never)
  func noteAnswer(_ verdict: Verdict) { notes?.journal?.end(verdict, messages) }

  @inline(never)
  func noteSuspension() { notes?.journal?.suspend() }

  @inline(never)
  func notePiece(
    _ binding: StageBinding, _ side: MessageSide, _ piece: [UInt8], _ verdict: PieceVerdict, _ output: [UInt8]
  ) {
    notes?.journal?.pass(
      binding.name, side, piece, verdict == .pass ? piece : output, verdict.verdict, attempt: attempt,
      hop: hop)
  }

  /// Sends the request. If there is a recorder, it sits between the transport and the transaction.
  @inline(never)
  func sendObserved() {
    let observer = notes?.recorder?.observe(self) { [weak self] in self?.transfer?.resumeReceiving() }
    transfer = environment.transport.start(
      requestForms.native, transferOptions, observer: observer ?? self)
  }

  @inline(never)
  func noteDisposition(_ disposition: BodyDisposition) {
    if disposition == .discard { notes?.recorder?.willDiscard() }
  }

  /// Called once, when the transaction is over.
  @inline(never)
  func finishNotes() {
    result.notes = ResultNotes(notes?.journal?.finish(messages), notes?.recorder?.finish())
  }

  /// Called after ``finishNotes()``, when the result is known.
  @inline(never)
  func noteOutcome() {
    guard let notes = result.notes, var exchange = notes.exchange else { return }
    exchange.outcome = RecordedOutcome(status: result.response?.status, result.error)
    result.notes = ResultNotes(notes.calls, exchange)
  }
}

extension Request {
  /// Whether the request wants an explanation, a journal or a recording.
  var wantsNotes: Bool { wantsExplanation || wantsJournal || wantsRecording }
}

extension Exchange {
  /// The messages as they are now, from the form that is current; neither form is changed.
  fileprivate var messages: MessageState {
    var state = MessageState(request: requestForms.current, response: responseForms.current, limits: limits)
    if let issueHeaders { state.request?.headers = issueHeaders }
    return state
  }
}

extension StageBinding {
  var mismatchWords: String { "stage \"\(name)\" was not called: the request does not satisfy its match" }
}

extension StageCall.Callback {
  /// Nil for the phase in which tracers get events, because tracers change nothing.
  fileprivate init?(_ phase: Exchange.Phase) {
    switch phase {
    case .request: self = .request
    case .issue: self = .issue
    case .redirect: self = .redirect
    case .challenge: self = .challenge
    case .response: self = .response
    case .failure: self = .failure
    case .trace: return nil
    }
  }
}
