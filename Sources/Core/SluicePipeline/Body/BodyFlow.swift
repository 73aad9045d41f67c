import SluiceMessages

/// Moves one body through the stages that see its pieces. A pure state machine: it takes an event and returns the next
/// action.
///
///     source ──► queue ─ stage 0 ──► queue ─ stage 1 ──► … ──► queue ─ receiver
///
/// The queue nearest to the receiver is served first, and the source is asked for the next piece only when every queue
/// is empty. A suspended stage stops everything before it; a paused receiver stops everything. So a flow never holds
/// more than one piece of the source and the bytes that stages made from it.
struct BodyFlow: Sendable {
  enum Event: Sendable {
    /// The source gave a piece.
    case piece([UInt8])
    /// The source has ended.
    case ended
    /// The called stage answered, and wrote these bytes.
    case answered(PieceVerdict, output: [UInt8])
    /// A suspended stage was resumed; it wrote these bytes in the meantime.
    case resumed(stage: Int, output: [UInt8])
    /// A suspended stage is skipped: the piece that it held back is passed on.
    case skipped(stage: Int)
    /// The receiver took a piece.
    case delivered(pauses: Bool)
    case receiverResumed
  }

  enum Action: Sendable, Equatable {
    /// Nothing can be done until a stage or the receiver continues.
    case wait
    /// The source can give the next piece.
    case pull
    case callChunk(stage: Int, [UInt8])
    case callEnd(stage: Int)
    case deliver([UInt8])
    /// The receiver has the whole body. Nothing follows.
    case finish
    /// A stage fails the transaction. Nothing follows.
    case fail(StageFailure, stage: Int)
  }

  /// The state of one stage and the pieces that wait for it. The last lane is that of the receiver.
  private struct Lane: Sendable {
    var queue: [[UInt8]] = []
    /// Whether no more pieces will be queued.
    var isClosed = false
    var isHeld = false
    /// Whether on_end was called.
    var hasEnded = false
    /// The original piece of a suspended call; empty if the call wrote other bytes in its place.
    var held: [UInt8] = []
  }

  private enum Call: Sendable {
    case chunk(Int, [UInt8])
    case end(Int)
  }

  /// The stages in order, the receiver last.
  private var lanes: [Lane]
  private var call: Call?
  private var isOver = false

  init(stages: Int) { lanes = Array(repeating: Lane(), count: stages + 1) }

  mutating func handle(_ event: Event) -> Action {
    if isOver { return .wait }
    switch event {
    case .piece(let piece): send(piece, to: 0)
    case .ended: lanes[0].isClosed = true
    case .answered(let verdict, let output):
      if let failure = take(verdict, output) { return failure }
    case .resumed(let stage, let output): release(stage, output)
    case .skipped(let stage): release(stage, lanes[stage].held)
    case .delivered(let pauses): lanes[receiver].isHeld = pauses
    case .receiverResumed: lanes[receiver].isHeld = false
    }
    return next()
  }

  private var receiver: Int { lanes.count - 1 }

  private mutating func next() -> Action {
    for index in lanes.indices.reversed() {
      if lanes[index].isHeld { return .wait }
      if !lanes[index].queue.isEmpty { return begin(lanes[index].queue.removeFirst(), at: index) }
      if lanes[index].isClosed, !lanes[index].hasEnded { return end(at: index) }
    }
    return lanes[0].isClosed ? .wait : .pull
  }

  private mutating func begin(_ piece: [UInt8], at index: Int) -> Action {
    guard index < receiver else { return .deliver(piece) }
    call = .chunk(index, piece)
    return .callChunk(stage: index, piece)
  }

  private mutating func end(at index: Int) -> Action {
    lanes[index].hasEnded = true
    guard index < receiver else {
      isOver = true
      return .finish
    }
    call = .end(index)
    return .callEnd(stage: index)
  }

  /// Returns the failure, if the stage answered with one.
  private mutating func take(_ verdict: PieceVerdict, _ output: [UInt8]) -> Action? {
    guard let call = self.call.take() else { return nil }
    let (stage, piece): (Int, [UInt8]) =
      switch call {
      case .chunk(let stage, let piece): (stage, piece)
      case .end(let stage): (stage, [])
      }
    switch verdict {
    case .fail(let failure), .fault(let failure):
      isOver = true
      return .fail(failure, stage: stage)
    case .suspended:
      send(output, to: stage + 1)
      lanes[stage].isHeld = true
      lanes[stage].held = output.isEmpty ? piece : []
      return nil
    case .taken: send(output, to: stage + 1)
    case .pass: send(piece.isEmpty ? output : piece, to: stage + 1)
    }
    closeNext(after: stage)
    return nil
  }

  private mutating func release(_ stage: Int, _ output: [UInt8]) {
    guard lanes[stage].isHeld else { return }
    lanes[stage].isHeld = false
    lanes[stage].held = []
    send(output, to: stage + 1)
    closeNext(after: stage)
  }

  /// Closes the queue of the next lane if `on_end` of this stage is over, because no further pieces can come.
  private mutating func closeNext(after stage: Int) {
    if lanes[stage].hasEnded { lanes[stage + 1].isClosed = true }
  }

  private mutating func send(_ piece: [UInt8], to index: Int) {
    if !piece.isEmpty { lanes[index].queue.append(piece) }
  }
}
