import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Passes the response body from the loop to the task that reads it.
///
///     loop ── receive ──► chunks, at most 1 MiB ──► nextChunk ── task
///
/// When 1 MiB waits to be read, the socket is paused. When 256 KiB are left, it is resumed. Only one task may read.
final class BodyPipe: BodySink {
  static let pauseBytes = 1 << 20
  static let resumeBytes = 1 << 18
  /// The cost that is counted for a chunk in addition to its bytes, so that many small chunks are bounded too.
  private static let chunkCost = 64

  fileprivate enum End {
    case whole
    case failed(TransactionError)
  }

  fileprivate struct State {
    var head: Response?
    var hasGivenHead = false
    var chunks = FIFOQueue<[UInt8]>()
    var waitingBytes = 0
    var isPaused = false
    /// The body, if the engine collected it in a file.
    var file: HeldFile?
    var trailers: HeaderFields?
    var end: End?
    var isAbandoned = false
    /// Set while the reader waits for a change.
    var waiter: Handover<Void>?
  }

  private let state = Locked(State())
  private let cancellation: Cancellation
  private let failureOf: @Sendable (TransactionResult) -> TransactionError?
  private let whenOver: (@Sendable () -> Void)?

  /// - Parameters:
  ///   - cancellation: the cancellation of the transaction.
  ///   - whenOver: called when the transaction has ended.
  ///   - failure: returns why a transaction counts as failed; nil if it does not.
  init(
    _ cancellation: Cancellation, whenOver: (@Sendable () -> Void)? = nil,
    failure: @escaping @Sendable (TransactionResult) -> TransactionError?
  ) {
    self.cancellation = cancellation
    self.whenOver = whenOver
    failureOf = failure
  }

  // MARK: The loop

  var failure: TransactionError? { nil }

  func begin(_ head: Response) {
    let (waiter, isLate) = state.withLock { state -> (Handover<Void>?, Bool) in
      guard !state.hasGivenHead, state.waitingBytes == 0 else { return (nil, true) }
      state.head = head
      return (state.takeWaiter(), false)
    }
    if isLate {
      cancellation.fail(
        TransactionError(code: .sink, message: "the response began again after a part of it had been read"))
    }
    waiter?.give()
  }

  func receive(_ piece: [UInt8]) -> BodyProgress {
    let (waiter, progress) = state.withLock { state -> (Handover<Void>?, BodyProgress) in
      guard !state.isAbandoned else { return (nil, .stop) }
      guard !piece.isEmpty else { return (nil, .proceed) }
      state.chunks.append(piece)
      state.waitingBytes += piece.count + Self.chunkCost
      if state.waitingBytes >= Self.pauseBytes { state.isPaused = true }
      return (state.takeWaiter(), state.isPaused ? .pause : .proceed)
    }
    waiter?.give()
    return progress
  }

  /// Takes the result of the transaction. If a stage asked for the whole body or made the body, `begin` and `receive`
  /// were not called, and the body is in the result.
  func complete(_ result: TransactionResult) {
    defer { whenOver?() }
    let error = failureOf(result)
    let waiter = state.withLock { state -> Handover<Void>? in
      guard state.end == nil else { return nil }
      if let error {
        state.end = .failed(error)
        return state.takeWaiter()
      }
      guard var response = result.response else {
        state.end = .failed(.withoutResponse)
        return state.takeWaiter()
      }
      if state.head == nil {
        switch response.body {
        case .bytes(let bytes) where !bytes.isEmpty: state.chunks.append(bytes)
        case .file(let file): state.file = HeldFile(file)
        case .bytes, .empty, .stream: break
        }
        response.body = .empty
        state.head = response
      }
      state.trailers = response.trailers
      state.end = .whole
      return state.takeWaiter()
    }
    waiter?.give()
  }

  // MARK: The reader

  /// Waits for the head.
  func head() async throws(TransactionError) -> Response {
    while true {
      if Task.isCancelled { cancel() }
      let step = state.withLock { state -> Result<Response?, TransactionError> in
        if case .failed(let error) = state.end, state.isAbandoned || state.head == nil { return .failure(error) }
        if state.head != nil { state.hasGivenHead = true }
        return .success(state.head)
      }
      if let head = try step.get() { return head }
      try await waitForChange { $0.head != nil || $0.end != nil }
    }
  }

  /// The next chunk; nil at the end. After the last chunk of a failed transaction, throws the error of the transaction.
  func nextChunk() async throws(TransactionError) -> [UInt8]? {
    while true {
      if Task.isCancelled { cancel() }
      switch take() {
      case .chunk(let chunk): return chunk
      case .file(let file):
        if let chunk = try await file.next() { return chunk }
        state.withLock { $0.file = nil }
      case .end: return nil
      case .failed(let error): throw error
      case .nothing: try await waitForChange { !$0.chunks.isEmpty || $0.end != nil }
      }
    }
  }

  /// All chunks that have arrived. Waits until there is at least one. Returns nil at the end. Throws the same errors as
  /// ``nextChunk()``.
  func nextChunks() async throws(TransactionError) -> [[UInt8]]? {
    guard let first = try await nextChunk() else { return nil }
    var chunks = [first]
    while case .chunk(let chunk) = take(onlyChunks: true) { chunks.append(chunk) }
    return chunks
  }

  /// Why the transaction has failed; nil if it has not.
  var failed: TransactionError? { state.withLock { if case .failed(let error) = $0.end { error } else { nil } } }

  /// The fields after the body; nil before the whole body has been read.
  var trailers: HeaderFields? { state.withLock { $0.chunks.isEmpty && $0.file == nil ? $0.trailers : nil } }

  private enum Step {
    case chunk([UInt8])
    case file(HeldFile)
    case end
    case failed(TransactionError)
    case nothing
  }

  /// - Parameter onlyChunks: whether to take only a chunk. If so, an end or a file stays for the next call.
  private func take(onlyChunks: Bool = false) -> Step {
    let (step, resumes) = state.withLock { state -> (Step, Bool) in
      if state.isAbandoned, case .failed(let error) = state.end { return (.failed(error), false) }
      if let chunk = state.chunks.popFirst() {
        state.waitingBytes -= chunk.count + Self.chunkCost
        let resumes = state.isPaused && state.waitingBytes <= Self.resumeBytes
        if resumes { state.isPaused = false }
        return (.chunk(chunk), resumes)
      }
      if onlyChunks { return (.nothing, false) }
      if let file = state.file { return (.file(file), false) }
      switch state.end {
      case .whole: return (.end, false)
      case .failed(let error): return (.failed(error), false)
      case nil: return (.nothing, false)
      }
    }
    if resumes { cancellation.resumeReceiving() }
    return step
  }

  private func waitForChange(_ hasCome: (borrowing State) -> Bool) async throws(TransactionError) {
    var isSecond = false
    await withTaskCancellationHandler {
      await Handover<Void>.wait { waiter in
        let waits = state.withLock { state in
          guard !hasCome(state) else { return false }
          isSecond = state.waiter != nil
          if !isSecond { state.waiter = waiter }
          return !isSecond
        }
        if !waits { waiter.give() }
      }
    } onCancel: {
      cancel()
    }
    if isSecond {
      throw TransactionError(
        code: .sink,
        message: "two tasks read the same response body at the same time; read it in one task, and give the pieces to "
          + "the others")
    }
  }

  /// Makes every read of the body fail, including reads that are waiting, and ends the transfer if it is still running.
  func cancel() {
    let (waiter, wasRunning) = state.withLock { state -> (Handover<Void>?, Bool) in
      guard !state.isAbandoned else { return (nil, false) }
      let wasRunning = state.end == nil
      state.isAbandoned = true
      state.chunks = FIFOQueue()
      state.file = nil
      state.end = .failed(Self.cancelled)
      return (state.takeWaiter(), wasRunning)
    }
    waiter?.give()
    if wasRunning { cancellation.cancel() }
  }

  private static let cancelled = TransactionError(code: .cancelled, message: "the caller cancelled the request")
}

extension BodyPipe.State {
  fileprivate mutating func takeWaiter() -> Handover<Void>? {
    defer { waiter = nil }
    return waiter
  }
}
