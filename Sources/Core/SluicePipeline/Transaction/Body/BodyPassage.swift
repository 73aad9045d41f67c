import SluiceMessages

/// Moves one body of a transaction from its source through the stages to its receiver, as a ``BodyFlow`` decides.
///
/// Unchecked because it is confined to the loop. Keeps its transaction alive until ``close()``.
final class BodyPassage: @unchecked Sendable {
  enum Source {
    /// The transfer under way delivers pieces.
    case wire
    case stream(BodyStream)
  }

  enum Receiver {
    case sink(any BodySink)
    case gatherer(any BodyGatherer)
    /// The transport reads the bytes that are ready.
    case reader(BodyStream)
  }

  /// A stage whose call is suspended.
  struct Suspension {
    let token: SuspensionToken
    let stage: Int
    var deadline: Instant
    /// The bytes that the stage has written since it was suspended.
    var output: [UInt8] = []
  }

  private static let pieceBytes = 65_536
  /// The maximum number of bytes that one turn of the loop reads from a stream, so that other work gets its turn.
  private static let bytesPerTurn = 1 << 20

  /// How a passage ended.
  enum Outcome {
    /// Every piece has passed. The value is the whole body, if it was gathered.
    case done(Body?)
    /// `cause` is set if the source failed, not a stage or the receiver.
    case failed(TransactionError, cause: (any Error)?)
  }

  private(set) var transaction: Transaction?
  let side: MessageSide
  /// The positions of the stages in the pipeline's list.
  let stages: [Int]
  private let source: Source
  private let receiver: Receiver
  private var flow: BodyFlow
  var suspensions: [Suspension] = []
  /// The stage that is being called, and the token that it took.
  var calledStage: Int?
  var takenToken: SuspensionToken?
  /// Whether the wire was told to pause.
  private var isWirePaused = false
  /// Whether the flow waits for a piece that the stream does not have yet, or that the next turn of the loop will read.
  private var awaitsStream = false
  /// Bytes for the reader, and whether the reader waits for some.
  private var ready: ArraySlice<UInt8> = []
  private var isReaderWaiting = false
  /// Whether the gatherer has every piece, but not all of them are on disk.
  private var isFinishing = false
  var turnBytes = 0
  private var byteCount = 0

  /// Whether the body waits for a stage, the caller's sink or the caller's stream, as opposed to the peer.
  private(set) var isHeld = false
  private(set) var outcome: Outcome?
  /// Called once, if the outcome comes after the call that caused it has returned.
  var whenOver: ((Outcome) -> Void)?

  init(_ transaction: Transaction, _ side: MessageSide, _ stages: [Int], from source: Source, to receiver: Receiver) {
    self.transaction = transaction
    self.side = side
    self.stages = stages
    self.source = source
    self.receiver = receiver
    flow = BodyFlow(stages: stages.count)
    if case .gatherer(let gatherer) = receiver {
      gatherer.whenReady = { [weak self] in self?.gathererIsReady() }
    }
  }

  /// Begins to read the stream. If the receiver is a reader, the stream is read only when the reader asks for bytes.
  func begin() {
    guard case .stream(let stream) = source, let loop = transaction?.loop else { return }
    stream.onWake { [weak self] in
      guard let self else { return }
      loop.post { self.streamWoke() }
    }
    if case .reader = receiver { return }
    pull()
  }

  /// Releases everything and cancels suspended calls.
  func close() {
    guard let transaction else { return }
    whenOver = nil
    if case .stream(let stream) = source { stream.onWake(nil) }
    if case .reader(let stream) = receiver { stream.onWake(nil) }
    let open = suspensions
    suspensions = []
    for suspension in open where transaction.environment.suspensions.expire(suspension.token) {
      binding(suspension.stage, transaction).interceptor.suspensionWasCancelled(suspension.token)
    }
    hold(false)
    self.transaction = nil
  }

  // MARK: The wire

  func receive(_ piece: [UInt8]) -> BodyProgress {
    handle(.piece(piece))
    if case .failed = outcome { return .stop }
    isWirePaused = isHeld
    return isHeld ? .pause : .proceed
  }

  func wireEnded() { handle(.ended) }

  func receiverResumed() { handle(.receiverResumed) }

  // MARK: The stream

  private func streamWoke() {
    guard awaitsStream else { return }
    if case .reader = receiver { return wakeReader() }
    pull()
  }

  private func pull() {
    turnBytes = 0
    perform(from: .pull)
  }

  private func readStream(_ stream: BodyStream) -> BodyFlow.Event? {
    awaitsStream = false
    if turnBytes >= Self.bytesPerTurn, case .gatherer = receiver {
      awaitsStream = true
      transaction?.loop.post { [self] in streamWoke() }
      return nil
    }
    do {
      let piece = try stream.read(Self.pieceBytes)
      if stream.isUnread?() == false { transaction?.machine.bodyWasRead() }
      turnBytes += piece?.count ?? 0
      byteCount += piece?.count ?? 0
      try checkLength(stream, isOver: piece == nil)
      if piece == nil, let last = stream.trailers { try takeTrailers(last()) }
      awaitsStream = piece?.isEmpty == true
      hold(awaitsStream)
      return awaitsStream ? nil : piece.map { .piece($0) } ?? .ended
    } catch {
      end(.failed(Self.failure(error), cause: error))
      return nil
    }
  }

  /// A producer must deliver the length that it announced.
  private func checkLength(_ stream: BodyStream, isOver: Bool) throws(TransportError) {
    guard let announced = stream.byteCount else { return }
    let isRead = if case .reader = receiver { true } else { false }
    if byteCount > announced {
      throw TransportError(
        .bodyFile, "the \(side) body is longer than the \(announced) bytes it announced", isBeforeSending: !isRead)
    }
    guard isOver, byteCount < announced else { return }
    throw TransportError(
      .bodyFile, "the \(side) body ended after \(byteCount) of \(announced) bytes", isBeforeSending: !isRead)
  }

  /// Takes the trailers that the producer of the request body knows at its end.
  private func takeTrailers(_ trailers: HeaderFields) throws(TransportError) {
    guard !trailers.isEmpty, let transaction else { return }
    do throws(MessageError) { try trailers.validateTrailers() } catch {
      throw TransportError(error.code, error.description)
    }
    var kept = trailers
    transaction.forgetDerivedFields(in: &kept, self)
    transaction.requestForms.native.trailers = kept
  }

  private static func failure(_ error: any Error) -> TransactionError {
    if let error = error as? TransportError { return TransactionError(error) }
    if let error = error as? TransactionError { return error }
    return TransactionError(
      TransportError(.bodyFile, "the request body could not be produced: \(error)", isBeforeSending: true))
  }

  // MARK: The reader

  /// The next bytes for the transport; empty if no data is available yet, nil at the end.
  func read(_ maximum: Int) throws -> [UInt8]? {
    isReaderWaiting = false
    if ready.isEmpty { handle(.receiverResumed) }
    if !ready.isEmpty {
      let piece = ready.prefix(maximum)
      ready = ready.dropFirst(piece.count)
      return Array(piece)
    }
    switch outcome {
    case .done: return nil
    case .failed(let error, let cause): throw cause ?? error
    case nil:
      isReaderWaiting = true
      hold(true)
      return []
    }
  }

  private func wakeReader() {
    guard case .reader(let stream) = receiver, isReaderWaiting else { return }
    isReaderWaiting = false
    hold(false)
    stream.wake()
  }

  // MARK: The flow

  func handle(_ event: BodyFlow.Event) {
    guard outcome == nil else { return }
    perform(from: flow.handle(event))
  }

  private func perform(from first: BodyFlow.Action) {
    guard transaction != nil, outcome == nil else { return }
    var action = first
    while let event = perform(action) { action = flow.handle(event) }
    tellOutcome()
  }

  private func tellOutcome() {
    guard let outcome, let whenOver else { return }
    self.whenOver = nil
    whenOver(outcome)
  }

  /// Performs one action. Returns the event that follows at once, or nil when the event will come later.
  private func perform(_ action: BodyFlow.Action) -> BodyFlow.Event? {
    switch action {
    case .wait: pause()
    case .pull:
      if case .stream(let stream) = source { return readStream(stream) }
      resumeWire()
    case .callChunk(let stage, let piece): return callChunk(stage, piece)
    case .callEnd(let stage): return callEnd(stage)
    case .deliver(let piece): return deliver(piece)
    case .finish: finish()
    case .fail(let failure, let stage):
      let name = transaction.map { binding(stage, $0).name } ?? ""
      end(.failed(TransactionError(failure, stage: name), cause: nil))
    }
    return nil
  }

  private func pause() {
    // If bytes are ready, the flow waits for the peer to read them. This does not count as a hold.
    if ready.isEmpty { hold(true) } else { wakeReader() }
  }

  private func resumeWire() {
    hold(false)
    guard isWirePaused else { return }
    isWirePaused = false
    transaction?.transfer?.resumeReceiving()
  }

  private func finish() {
    guard case .gatherer(let gatherer) = receiver else { return end(.done(nil)) }
    do throws(TransportError) {
      let body = try gatherer.finish()
      if body == nil { isFinishing = true }
      if let body { end(.done(body)) } else { hold(true) }
    } catch { end(.failed(TransactionError(error), cause: nil)) }
  }

  private func gathererIsReady() {
    guard transaction != nil, outcome == nil else { return }
    guard isFinishing else { return goOn(.receiverResumed) }
    finish()
    tellOutcome()
  }

  private func end(_ outcome: Outcome) {
    self.outcome = outcome
    hold(false)
    wakeReader()
  }

  private func hold(_ isHeld: Bool) {
    guard isHeld != self.isHeld else { return }
    self.isHeld = isHeld
    transaction?.bodyHoldChanged()
  }

  private func deliver(_ piece: [UInt8]) -> BodyFlow.Event? {
    switch receiver {
    case .sink(let sink):
      // Another thread gave the result while a stage blocked the loop. No piece may follow the result.
      guard transaction?.seat.answer.isTaken == false else {
        end(.failed(Self.stopped, cause: nil))
        return nil
      }
      switch sink.receive(piece) {
      case .proceed: return .delivered(pauses: false)
      case .pause: return .delivered(pauses: true)
      case .stop: end(.failed(sink.failure ?? Self.stopped, cause: nil))
      }
    case .gatherer(let gatherer):
      do throws(TransportError) {
        return .delivered(pauses: try gatherer.append(piece) == .pause)
      } catch { end(.failed(TransactionError(error), cause: nil)) }
    case .reader:
      ready.append(contentsOf: piece)
      return .delivered(pauses: true)
    }
    return nil
  }

  private static let stopped = TransactionError(
    code: .cancelled, message: "the receiver of the body has stopped it")
}
