/// Writes down what the stages of one transaction do. Confined to its loop.
final class StageJournal {
  /// Called before each call of a stage, so that a process can record which call was running when the process ended.
  typealias Watcher = (_ stage: String, _ callback: StageCall.Callback) -> Void

  private struct OpenCall {
    var call: StageCall
    let before: MessageState
  }

  /// The passage of one body through one stage in one hop.
  private struct Flow {
    var call: StageCall
    let side: MessageSide
    var input = BodyDigest()
    var output = BodyDigest()
  }

  private let settings: JournalSettings
  private let watcher: Watcher?
  private var calls: [StageCall] = []
  private var open: OpenCall?
  private var flows: [Flow] = []

  init(_ settings: JournalSettings, watcher: Watcher? = nil) {
    self.settings = settings
    self.watcher = watcher
  }

  /// - Parameter messages: returns the messages as they are at the time of the call. This also holds for the functions
  ///   below.
  func begin(_ call: StageCall, _ messages: @autoclosure () -> MessageState) {
    // A call that is still open here was suspended, and the timeout of its attempt has ended it.
    if open != nil { end(.suspended, messages()) }
    watcher?(call.stage, call.callback)
    open = OpenCall(call: call, before: messages())
  }

  /// The call answered that it will resume.
  func suspend() { open?.call.wasSuspended = true }

  /// The call has its answer. A fault that comes after the answer replaces it: the rules did not allow the answer.
  func end(_ verdict: Verdict, _ messages: @autoclosure () -> MessageState) {
    guard var ended = open else {
      if case .fault = verdict, let last = calls.indices.last { calls[last].verdict = verdict }
      return
    }
    open = nil
    ended.call.verdict = verdict
    ended.call.changes = messages().changes(since: ended.before, settings)
    calls.append(ended.call)
  }

  /// A piece of a body went through a stage, which returned these bytes.
  func pass(
    _ stage: String, _ side: MessageSide, _ piece: [UInt8], _ output: [UInt8], _ verdict: Verdict, attempt: Int,
    hop: Int
  ) {
    let callback: StageCall.Callback = side == .request ? .requestBody : .responseBody
    let call = StageCall(attempt: attempt, hop: hop, stage: stage, callback: callback)
    let known = flows.firstIndex {
      $0.side == side && $0.call.stage == stage && $0.call.attempt == call.attempt && $0.call.hop == call.hop
    }
    let index = known ?? flows.endIndex
    if known == nil { flows.append(Flow(call: call, side: side)) }
    flows[index].input.update(piece)
    flows[index].output.update(output)
    if verdict == .suspended { flows[index].call.wasSuspended = true } else { flows[index].call.verdict = verdict }
  }

  func willPass(_ stage: String, _ side: MessageSide) {
    watcher?(stage, side == .request ? .requestBody : .responseBody)
  }

  /// All flows of a side have ended: no further pieces come.
  func endFlows(_ side: MessageSide) {
    for flow in flows where flow.side == side {
      var call = flow.call
      if flow.input.texts != flow.output.texts {
        call.changes = [StageChange(side, .body, before: flow.input.texts, after: flow.output.texts)]
      }
      calls.append(call)
    }
    flows.removeAll { $0.side == side }
  }

  /// Returns everything that was written down. Call it when the transaction has ended.
  func finish(_ messages: @autoclosure () -> MessageState) -> [StageCall] {
    if open != nil { end(.suspended, messages()) }
    endFlows(.request)
    endFlows(.response)
    return calls
  }
}

extension PieceVerdict {
  var verdict: Verdict {
    switch self {
    case .pass, .taken: .proceed
    case .suspended: .suspended
    case .fail(let failure): .fail(failure)
    case .fault(let failure): .fault(failure)
    }
  }
}
