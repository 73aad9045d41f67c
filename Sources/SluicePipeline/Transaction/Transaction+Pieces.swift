import SluiceMetrics

// Response bodies that flow through stages, to a sink or into memory.
extension Transaction {
  /// Takes a piece through the stages from a position on, and to where it belongs.
  func pass(_ piece: [UInt8], from start: Int) -> BodyProgress {
    var piece = piece
    var suspended: StagePlace?
    for index in pipeline.responseStages.indices[start...] {
      let binding = pipeline.responseStages[index]
      guard isPieceStage(binding, .responsePieces) else { continue }
      if piece.isEmpty { break }
      var output: [UInt8] = []
      exchange.phase = .response
      let place = StagePlace(phase: .response, index: index)
      currentPlace = suspended ?? place
      notes?.journal?.willPass(binding.name, .response)
      let verdict = binding.interceptor.interceptPiece(exchange, .response, piece, &output)
      if notes != nil { notePiece(binding, .response, piece, verdict, output) }
      switch verdict {
      case .pass: break
      case .taken: piece = output
      case .suspended:
        guard suspended == nil, token != nil else { return stop(Self.cannotSuspendPiece, binding) }
        heldPiece = output.isEmpty ? piece : []
        piece = output
        suspended = place
      case .fail(let failure): return stop(failure, binding)
      }
    }
    currentPlace = suspended
    let progress = deliver(piece)
    guard let suspended, progress != .stop else { return progress }
    isPieceSuspended = true
    if let limit = pipeline.stage(at: suspended).deadline {
      stageDeadline = loop.now + limit
      armTimer()
    }
    return .pause
  }

  private static let cannotSuspendPiece = StageFailure(
    code: TransactionError.Code.stageFault,
    message: "it suspended the flow of a body without a token of its own, or while another stage had suspended it")

  func isPieceStage(_ binding: StageBinding, _ capability: StageCapabilities) -> Bool {
    guard binding.capabilities.contains(capability) else { return false }
    return binding.match?.matches(exchange.nativeRequest) ?? true
  }

  private func stop(_ failure: StageFailure, _ binding: StageBinding) -> BodyProgress {
    currentPlace = nil
    hopFailure = TransactionError(failure, stage: binding.name)
    return .stop
  }

  private func deliver(_ piece: [UInt8]) -> BodyProgress {
    guard !piece.isEmpty else { return .proceed }
    if let sink {
      let progress = sink.receive(piece)
      if progress == .pause { isSinkPaused = true }
      return progress
    }
    let gatherer = self.gatherer ?? environment.transport.makeBodyGatherer(pipeline.settings.transfer)
    self.gatherer = gatherer
    do {
      try gatherer.append(piece)
      return .proceed
    } catch {
      hopFailure = TransactionError(error)
      return .stop
    }
  }

  /// Tells the stages that the body has ended, and takes on what they still have.
  func passEnd() -> TransactionError? {
    guard pipeline.changesResponsePieces, machine.phase == .receivingBody else { return nil }
    for (index, binding) in pipeline.responseStages.enumerated() where isPieceStage(binding, .responsePieces) {
      var output: [UInt8] = []
      currentPlace = StagePlace(phase: .response, index: index)
      let verdict = binding.interceptor.interceptBodyEnd(exchange, .response, &output)
      if notes != nil { notePiece(binding, .response, [], verdict == .pass ? .taken : verdict, output) }
      currentPlace = nil
      if case .fail(let failure) = verdict { return TransactionError(failure, stage: binding.name) }
      if verdict == .suspended { return TransactionError(Self.cannotSuspendEnd, stage: binding.name) }
      if output.isEmpty { continue }
      if pass(output, from: index + 1) == .stop { return hopFailure ?? Self.stopped }
      if isPieceSuspended { return TransactionError(Self.cannotSuspendEnd, stage: currentStageName ?? "") }
    }
    return nil
  }

  private static let cannotSuspendEnd = StageFailure(
    code: TransactionError.Code.stageFault, message: "it suspended at the end of a body, where nothing more can wait")

  /// What the stage wrote while the flow was suspended goes on before the next piece comes.
  private func passLateOutput(after binding: StageBinding) {
    let late = exchange.pieceOutput
    exchange.pieceOutput = []
    if notes != nil { notePiece(binding, .response, [], .taken, late) }
    let place = pipeline.responseStages.firstIndex { $0.interceptor === binding.interceptor }
    guard !late.isEmpty, let place else { return resumeFlow() }
    if pass(late, from: place + 1) == .stop { return run(.abort(hopFailure ?? Self.stopped)) }
    resumeFlow()
  }

  /// Lets the socket go on, unless somebody else wants it to be left alone.
  func resumeFlow() {
    if !isPieceSuspended, !isSinkPaused { transfer?.resumeReceiving() }
  }

  private static let stopped = TransactionError(
    code: TransactionError.Code.cancelled, message: "the receiver of the body wanted no more")

  /// A stage did not go on in time. Where the body goes on without it, so does the piece that it held back.
  func pieceTimedOut(_ failure: StageFailure, _ binding: StageBinding) {
    guard binding.onFault == .skip else {
      if notes != nil { notePiece(binding, .response, [], .fail(failure), []) }
      return pieceWasResumed(.fault(failure), binding)
    }
    exchange.pieceOutput = heldPiece
    pieceWasResumed(.proceed, binding)
  }

  /// A stage that had suspended the flow of a body goes on.
  func pieceWasResumed(_ verdict: Verdict, _ binding: StageBinding) {
    isPieceSuspended = false
    currentPlace = nil
    heldPiece = []
    switch verdict {
    case .proceed: passLateOutput(after: binding)
    case .fail(let failure), .fault(let failure): run(.abort(TransactionError(failure, stage: binding.name)))
    case .respond, .retry, .suspended:
      run(
        .abort(
          TransactionError(
            code: TransactionError.Code.stageFault,
            message: "while a body flows, a resumption may carry CONTINUE or FAIL and nothing else", stage: binding.name
          )))
    }
  }
}
