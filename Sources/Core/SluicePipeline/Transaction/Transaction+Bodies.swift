import SluiceMessages

// Moves bodies through the stages that see their pieces.
//
// In each attempt, every such stage sees one body of each side (and the request's body again in each hop). The body
// flows in two cases: when a later stage of the list wants all of it, and at the end, on its way to the wire or to the
// caller. So a stage sees the output of the stages before it in the list, independent of the body's source.
extension Transaction {
  // MARK: What the stages want

  /// Decides what happens to the response body when the head has arrived.
  func decideBody() {
    let streams = sink != nil && !isGathered
    // The head of an earlier hop can have decided otherwise.
    guard mayShowResponseBody else { return machine.decideBody(isWanted: false, streams: streams) }
    let stages = pipeline.responseStages
    machine.decideBody(
      isWanted: stages.contains { wantsResponseBody($0) && matches($0) },
      streams: streams || stages.contains { isPieceStage($0, .responsePieces) })
  }

  /// Whether any response stage might want to see the body, whole or in pieces.
  private var mayShowResponseBody: Bool {
    pipeline.responseStagesWantBody || pipeline.changesResponsePieces || !responseBodyAskers.isEmpty
  }

  package var wantsDecodedBody: Bool {
    mayShowResponseBody
      && pipeline.responseStages.contains {
        wantsResponseBody($0) && matches($0) || isPieceStage($0, .responsePieces)
      }
  }

  /// Whether the body is so short that the sink gets it with the result.
  private var isGathered: Bool {
    guard let limit = sink?.gatheredBytes, limit > 0, let count = responseForms.native?.headers.contentLength else {
      return false
    }
    return count <= limit
  }

  private func wantsResponseBody(_ binding: StageBinding) -> Bool {
    binding.capabilities.contains(.wantsResponseBody)
      || (!responseBodyAskers.isEmpty && responseBodyAskers.contains(binding.interceptor.identity))
  }

  /// Whether stages of this phase may have to wait for a body before they are called.
  func mayWantBody(_ phase: StagePhase) -> Bool {
    switch phase {
    case .request: pipeline.requestStagesWantBody
    case .response:
      (pipeline.changesResponsePieces || machine.streamsOwnBody)
        && (pipeline.responseStagesWantBody || !responseBodyAskers.isEmpty)
    case .issue, .failure, .hop: false
    }
  }

  /// Whether a stage must wait until the body is complete and has passed through the stages before it.
  func mustWaitForBody(_ binding: StageBinding, at index: Int, _ phase: StagePhase) -> Bool {
    if phase == .request {
      return binding.capabilities.contains(.wantsRequestBody) && !isRequestBodyWhole(for: index)
    }
    if machine.streamsOwnBody, hasStreamedResponse { return wantsResponseBody(binding) }
    return wantsResponseBody(binding) && !pendingStages(.response, before: index).isEmpty
  }

  func isRequestBodyWhole(for index: Int) -> Bool {
    if case .stream = requestForms.native.body { return false }
    return requestForms.native.body.isEmpty || pendingStages(.request, before: index).isEmpty
  }

  private func isPieceStage(_ binding: StageBinding, _ capability: StageCapabilities) -> Bool {
    binding.capabilities.contains(capability) && matches(binding)
  }

  /// The stages before a position that see pieces and have not seen the pieces of this body.
  private func pendingStages(_ side: MessageSide, before end: Int) -> [Int] {
    let isRequest = side == .request
    guard isRequest ? pipeline.changesRequestPieces : pipeline.changesResponsePieces else { return [] }
    let (bindings, first) =
      isRequest
      ? (pipeline.requestStages, thisAttempt.requestPassedTo) : (pipeline.responseStages, thisHop.responsePassedTo)
    return (first..<max(first, end)).filter { isPieceStage(bindings[$0], isRequest ? .requestPieces : .responsePieces) }
  }

  // MARK: Bodies that have arrived

  /// Passes the body through the stages before `end` that have not seen it yet, and gathers their output.
  ///
  /// - Returns: nil if the result comes later.
  func passBody(_ side: MessageSide, before end: Int) -> TransactionMachine.Event? {
    do {
      switch side {
      case .request:
        try settleRequest()
        return try passRequest(before: end)
      case .response:
        try settleResponse()
        return try passResponse(before: end)
      }
    } catch { return .abort(error) }
  }

  private func passRequest(before end: Int) throws(TransactionError) -> TransactionMachine.Event? {
    if case .stream(let stream) = requestForms.native.body {
      // The body is gathered first, so that another attempt begins with the body that the caller gave.
      return pass(.request, [], from: stream.taken()) { transaction, body in
        transaction.gatheredBody = body
        transaction.machine.bodyBecameReplayable()
        transaction.requestForms.replaceBody(with: body)
        return transaction.passBody(.request, before: end)
      }
    }
    let stages = pendingStages(.request, before: end)
    guard !stages.isEmpty, !requestForms.native.body.isEmpty else { return .bodyPassed }
    let source = try stream(of: requestForms.native.body)
    forgetDerivedFields(.request, stages)
    return pass(.request, stages, from: source) { transaction, body in
      transaction.thisAttempt.requestPassedTo = end
      transaction.requestForms.replaceBody(with: body)
      return .bodyPassed
    }
  }

  private func passResponse(before end: Int) throws(TransactionError) -> TransactionMachine.Event? {
    let stages = pendingStages(.response, before: end)
    thisHop.responsePassedTo = max(thisHop.responsePassedTo, end)
    guard let body = responseForms.native?.body else { return .bodyPassed }
    let isStreamed = if case .stream = body { true } else { false }
    guard !stages.isEmpty || isStreamed else { return .bodyPassed }
    if isStreamed, end == pipeline.responseStages.count, let sink {
      return deliver(try stream(of: body), stages, to: sink)
    }
    let source = try stream(of: body)
    forgetDerivedFields(.response, stages)
    return pass(.response, stages, from: source) { transaction, body in
      transaction.responseForms.replaceBody(with: body)
      return .bodyPassed
    }
  }

  /// Passes a body that a stage streams through the stages and on to the caller.
  private func deliver(_ stream: BodyStream, _ stages: [Int], to sink: any BodySink) -> TransactionMachine.Event? {
    if !stages.isEmpty { forgetDerivedFields(.response, stages) }
    setResponseBody(.empty)
    if let head = responseForms.native { sink.begin(head) }
    return run(BodyPassage(self, .response, stages, from: .stream(stream), to: .sink(sink))) { _, _ in .bodyPassed }
  }

  private func pass(
    _ side: MessageSide, _ stages: [Int], from stream: BodyStream,
    then finish: @escaping (Transaction, Body) -> TransactionMachine.Event?
  ) -> TransactionMachine.Event? {
    let options = transferOptions
    let gatherer =
      side == .request
      ? environment.transport.makeRequestGatherer(options) : environment.transport.makeBodyGatherer(options)
    return run(BodyPassage(self, side, stages, from: .stream(stream), to: .gatherer(gatherer)), then: finish)
  }

  private func run(
    _ passage: BodyPassage, then finish: @escaping (Transaction, Body) -> TransactionMachine.Event?
  ) -> TransactionMachine.Event? {
    let side = passage.side
    setPassage(passage)
    passage.begin()
    func event(_ outcome: BodyPassage.Outcome) -> TransactionMachine.Event? {
      setPassage(nil, side)
      switch outcome {
      case .done(let body): return finish(self, body ?? .empty)
      case .failed(let error, _): return .abort(error)
      }
    }
    if let outcome = passage.outcome { return event(outcome) }
    passage.whenOver = { [unowned self] outcome in
      if let event = event(outcome) { run(event) }
    }
    return nil
  }

  private func stream(of body: Body) throws(TransactionError) -> BodyStream {
    switch body {
    case .stream(let stream): return stream.taken()
    case .empty: return BodyStream { _ in nil }
    case .bytes(let bytes):
      let rest = RemainingBytes(bytes[...])
      return BodyStream { rest.take($0) }
    case .file(let file):
      do { return try environment.transport.stream(of: file) } catch { throw TransactionError(error) }
    }
  }

  // MARK: The wire

  /// Makes the transport read the request body through the remaining stages, if there are any or if the caller streams
  /// the body. With stages, the length is not known before the end, so the request is sent in chunks.
  func routeRequestBody() throws(TransactionError) {
    if Self.isEmpty(&requestForms.native) { return }
    let body = requestForms.native.body
    let isStreamed = if case .stream = body { true } else { false }
    if isStreamed, asksFirst(body) { return }
    let stages = body.isEmpty && !isStreamed ? [] : pendingStages(.request, before: pipeline.requestStages.count)
    guard isStreamed || !stages.isEmpty else { return }
    let source = try stream(of: body)
    if let count = source.byteCount, count < 0 {
      throw TransactionError(
        code: .bodyFile,
        message: "the request body announces a length of \(count) bytes; announce 0 or more, or no length",
        isBeforeSending: true)
    }
    let slot = PassageSlot()
    let reader =
      stages.isEmpty && source.trailers == nil
      ? BodyStream(byteCount: source.byteCount) { try slot.read($0) }
      : BodyStream(trailers: { slot.trailers }, read: { try slot.read($0) })
    let passage = BodyPassage(self, .request, stages, from: .stream(source), to: .reader(reader))
    slot.passage = passage
    setPassage(passage)
    passage.begin()
    reader.onWake { [weak self] in
      guard let self else { return }
      self.loop.post { self.transfer?.resumeSending() }
    }
    wholeContent = requestForms.native.content
    if !stages.isEmpty { forgetDerivedFields(.request, stages) }
    requestForms.native.body = .stream(reader)
  }

  /// Whether there is no body. Reads the body in place, without a copy.
  private static func isEmpty(_ request: inout Request) -> Bool {
    if case .empty = request.body { true } else { false }
  }

  /// Begins to pass the body from the wire through the stages, to the sink or into a gatherer.
  func beginWirePassage() {
    let stages = pendingStages(.response, before: pipeline.responseStages.count)
    thisHop.responsePassedTo = pipeline.responseStages.count
    if !stages.isEmpty { forgetDerivedFields(.response, stages) }
    if let sink {
      if let head = responseForms.native { sink.begin(head) }
      return setPassage(BodyPassage(self, .response, stages, from: .wire, to: .sink(sink)))
    }
    let gatherer = environment.transport.makeBodyGatherer(transferOptions)
    setPassage(BodyPassage(self, .response, stages, from: .wire, to: .gatherer(gatherer)))
  }

  /// Called when the wire has delivered the whole body. Bytes that stages still hold are then passed on.
  ///
  /// - Returns: nil if it must wait for a stage or the sink.
  func wireEnded() -> TransactionMachine.Event? {
    guard let passage = responsePassage else { return .ended(nil) }
    // The server has sent everything, so the attempt's clock stops.
    deadlines.endAttempt()
    passage.wireEnded()
    if let outcome = passage.outcome { return wireEvent(outcome) }
    passage.whenOver = { [unowned self] in run(wireEvent($0)) }
    return nil
  }

  private func wireEvent(_ outcome: BodyPassage.Outcome) -> TransactionMachine.Event {
    setPassage(nil, .response)
    switch outcome {
    case .failed(let error, _): return .abort(error)
    case .done(let body): if let body { setResponseBody(body) }
    }
    responseForms.dropView()
    return .ended(nil)
  }

  /// Removes the fields that describe the body, because the stages can change each piece of it. Called before the stages
  /// see a piece, so that fields which they add stay.
  private func forgetDerivedFields(_ side: MessageSide, _ stages: [Int]) {
    let fields: DerivedFields?
    if side == .request {
      requestForms.native.headers.remove("content-length")
      fields = stages.isEmpty ? nil : requestForms.native.removeDerivedFields()
    } else {
      responseForms.native?.headers.remove("content-length")
      fields = stages.isEmpty || isBodiless ? nil : responseForms.native?.removeDerivedFields()
    }
    if let fields { warn(about: fields, side, stages) }
  }

  private func warn(about fields: DerivedFields, _ side: MessageSide, _ stages: [Int]) {
    guard fields.warning != nil, let stage = stages.first else { return }
    let bindings = side == .request ? pipeline.requestStages : pipeline.responseStages
    bindings[stage].interceptor.warn(about: fields)
  }

  /// Removes the fields that describe the body from trailers that arrive at its end.
  func forgetDerivedFields(in trailers: inout HeaderFields, _ passage: BodyPassage) {
    guard !passage.stages.isEmpty else { return }
    let isResponse = passage.side == .response
    let head = (isResponse ? responseForms.native?.headers : requestForms.native.headers) ?? HeaderFields()
    warn(
      about: trailers.removeDerivedTrailers(isResponse: isResponse, head: head), passage.side, passage.stages)
  }

  /// Whether the fields of the response describe the content of another response, which no stage has changed (RFC 9110
  /// §15.4.5). The fields of a response to HEAD are those of a response to GET, which the stages would have changed.
  private var isBodiless: Bool { [204, 304].contains(responseStatus) }

  // MARK: Passages

  private func setPassage(_ passage: BodyPassage) { setPassage(passage, passage.side) }

  private func setPassage(_ passage: BodyPassage?, _ side: MessageSide) {
    if side == .request {
      requestPassage?.close()
      requestPassage = passage
    } else {
      responsePassage?.close()
      responsePassage = passage
    }
  }

  /// Called when the sending of the request ends.
  func endRequestPassage() { if requestPassage != nil { setPassage(nil, .request) } }

  func endResponsePassage() {
    if responsePassage != nil { setPassage(nil, .response) }
  }

  func passage(with token: SuspensionToken, _ body: (BodyPassage) -> Bool) -> Bool {
    openPassages.contains(where: body)
  }

  var openPassages: [BodyPassage] { [requestPassage, responsePassage].compactMap(\.self) }

  /// While a body waits for a stage, the sink or the caller's stream, the clock of the attempt stops, because the
  /// server does not cause this delay.
  func bodyHoldChanged() {
    let isHeld = requestPassage?.isHeld == true || responsePassage?.isHeld == true
    guard deadlines.isHeld != isHeld else { return }
    if !isHeld { noteActivity() }
    deadlines.runAttempt(!isHeld, at: loop.now)
    armTimer()
  }
}

/// Holds the passage of a stream that the transport reads. Unchecked because it is confined to the loop.
private final class PassageSlot: @unchecked Sendable {
  weak var passage: BodyPassage?

  func read(_ maximum: Int) throws -> [UInt8]? {
    guard let passage else { throw TransportError(.cancelled, "the request is over") }
    return try passage.read(maximum)
  }

  /// The trailers that the caller set, with the changes of the stages.
  var trailers: HeaderFields { passage?.transaction?.requestForms.native.trailers ?? HeaderFields() }
}

/// Bytes that are taken piece by piece. Unchecked because they are confined to the loop.
private final class RemainingBytes: @unchecked Sendable {
  private var bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  func take(_ maximum: Int) -> [UInt8]? {
    guard !bytes.isEmpty else { return nil }
    let piece = bytes.prefix(maximum)
    bytes = bytes.dropFirst(piece.count)
    return Array(piece)
  }
}
