package import Sluice
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// A request body that a task writes while it is sent.
///
///     task ── write ──► waiting pieces, at most 1 MiB ──► BodyStream ──► transport
package final class ProducedBody: Sendable {
  private static let fullBytes = 1 << 20

  fileprivate struct State {
    var pieces = FIFOQueue<[UInt8]>()
    var waitingBytes = 0
    /// How much of the first piece has been read.
    var offset = 0
    var isOver = false
    var failure: (any Error)?
    /// Whether `failure` was thrown by the task.
    var isProducerFailed = false
    var onFailure: (@Sendable (TransactionError) -> Void)?
    var trailers = HeaderFields()
    /// Whether the first piece was asked for.
    var hasBegun = false
    /// Writers that wait for room.
    var waiters: [Handover<Void>] = []
  }

  /// The body.
  package let stream: BodyStream
  private let state: Locked<State>
  private let start: Start
  private let task: Task<Void, Never>

  /// - Parameter produce: called in a task when the body is first read. The body ends when this closure returns. The
  ///   task has the task-local values of the code that calls this initializer.
  /// - Parameter renewed: makes the stream of another body with the same content and a known length; nil if there is
  ///   none.
  init(
    byteCount: Int?, renewed: (@Sendable () -> BodyStream)? = nil,
    _ produce: @escaping @Sendable (RequestBodyWriter) async throws -> Void
  ) {
    let state = Locked(State())
    self.state = state
    let weakly = WeakStream()
    var setTrailers: (@Sendable (HeaderFields) -> Void)?
    if byteCount == nil { setTrailers = { fields in state.withLock { $0.trailers = fields } } }
    let writer = RequestBodyWriter(put: { await Self.put($0, state, weakly) }, setTrailers: setTrailers)
    let start = Start()
    self.start = start
    task = Task { [signal = start.signal] in
      guard await signal.wait() else { return }
      do {
        try await produce(writer)
        Self.end(state, weakly, nil)
      } catch { Self.end(state, weakly, error) }
    }
    let read: @Sendable (Int) throws -> [UInt8]? = { try Self.take($0, state, start) }
    stream =
      byteCount == nil
      ? BodyStream(trailers: { state.withLock(\.trailers) }, read: read)
      : BodyStream(byteCount: byteCount, renewed: renewed, read: read)
    weakly.stream.withLock { [stream] in $0.value = stream }
  }

  /// A body that consists of the elements of a sequence.
  ///
  /// - Parameter isRepeatable: whether the sequence, whose length is known, can be read more than once.
  package convenience init<Pieces: AsyncSequence & Sendable>(
    _ pieces: Pieces, byteCount: Int?, isRepeatable: Bool = false
  ) where Pieces.Element == [UInt8] {
    let renewed: @Sendable () -> BodyStream = { ProducedBody(pieces, byteCount: byteCount).stream }
    self.init(byteCount: byteCount, renewed: isRepeatable ? renewed : nil) { writer in
      for try await piece in pieces { try await writer.write(piece) }
    }
  }

  /// Returns a cancellation that ends the call when the task that writes the body fails, even if the server has not
  /// taken the earlier pieces.
  ///
  /// - Parameter outer: the caller's cancellation, which ends the call too.
  /// - Returns: the cancellation for the call.
  package func cancellation(_ outer: Cancellation?) -> Cancellation {
    let cancellation = Cancellation()
    outer?.forward(to: cancellation)
    state.withLock { $0.onFailure = { cancellation.fail($0) } }
    return cancellation
  }

  /// Cancels the task, even if the body was not sent completely.
  package func stop() {
    let waiters = state.withLock { state in
      // If the body is still being read, it must not look complete.
      if !state.isOver { state.failure = TransactionError.cancelledEarly }
      state.isOver = true
      state.pieces = FIFOQueue()
      return state.takeWaiters()
    }
    start.signal.give(false)
    task.cancel()
    for waiter in waiters { waiter.give() }
  }

  /// Cancels the task, and waits for its end.
  func stopAndWait() async {
    stop()
    await task.value
  }

  /// The error with which the task failed; nil if it did not fail before it was stopped.
  var failure: (any Error)? { state.withLock { $0.isProducerFailed ? $0.failure : nil } }

  /// Why a call failed that had to send this body: because of the task, or because of `error`.
  func cause(_ error: TransactionError) -> TransactionError { failure.map(Self.error) ?? error }

  private static func error(_ cause: any Error) -> TransactionError {
    if let cause = cause as? TransactionError { return cause }
    var error = TransactionError(code: .bodyFile, message: "the request body could not be produced: \(cause)")
    error.underlying = cause
    return error
  }

  /// Called on the loop. Lets the task begin when the first piece is read.
  private static func take(_ maximum: Int, _ state: Locked<State>, _ start: Start) throws -> [UInt8]? {
    let (begins, piece, waiters, failure) = state.withLock { state in
      let begins = !state.hasBegun
      state.hasBegun = true
      let piece = state.next(maximum)
      let hasRoom = state.waitingBytes <= fullBytes / 4
      return (begins, piece, hasRoom ? state.takeWaiters() : [], state.failure)
    }
    if begins { start.signal.give(true) }
    for waiter in waiters { waiter.give() }
    if let piece, !piece.isEmpty { return piece }
    if let failure { throw failure }
    return piece
  }

  /// Returns false if no more pieces are wanted.
  private static func put(_ piece: [UInt8], _ state: Locked<State>, _ stream: WeakStream) async -> Bool {
    guard !piece.isEmpty else { return true }
    let (isWanted, isFull) = state.withLock { state in
      guard !state.isOver else { return (false, false) }
      state.pieces.append(piece)
      state.waitingBytes += piece.count
      return (true, state.waitingBytes >= fullBytes)
    }
    stream.wake()
    guard isWanted, isFull else { return isWanted }
    await Handover<Void>.wait { waiter in
      let hasRoom = state.withLock { state in
        if state.isOver || state.waitingBytes <= fullBytes / 4 { return true }
        state.waiters.append(waiter)
        return false
      }
      if hasRoom { waiter.give() }
    }
    return state.withLock { !$0.isOver }
  }

  private static func end(_ state: Locked<State>, _ stream: WeakStream, _ error: (any Error)?) {
    let onFailure = state.withLock { state in
      guard !state.isOver else { return nil as (@Sendable (TransactionError) -> Void)? }
      state.isOver = true
      state.failure = error
      state.isProducerFailed = error != nil
      return state.onFailure.take()
    }
    // The transport is woken. It then reads the remaining pieces, and after them the failure.
    stream.wake()
    guard let error else { return }
    onFailure?(Self.error(error))
  }
}

extension ProducedBody.State {
  fileprivate mutating func takeWaiters() -> [Handover<Void>] {
    defer { waiters = [] }
    return waiters
  }

  /// Takes a part of the first piece; empty if there is no piece, nil at the end.
  fileprivate mutating func next(_ maximum: Int) -> [UInt8]? {
    guard let first = pieces.first else { return isOver ? nil : [] }
    let end = min(first.count, offset + maximum)
    let part = offset == 0 && end == first.count ? first : Array(first[offset..<end])
    offset = end
    if end == first.count {
      _ = pieces.popFirst()
      offset = 0
    }
    waitingBytes -= part.count
    return part
  }
}

/// Lets the task of a body begin. If it is released before, the task ends without having begun.
///
/// The task is made where the body is made, because it inherits the task-local values there.
private final class Start: Sendable {
  let signal = StartSignal()

  deinit { signal.give(false) }
}

/// A value that is given once; later values are ignored.
private final class StartSignal: Sendable {
  private struct State {
    var value: Bool?
    var waiter: Handover<Bool>?
  }

  private let state = Locked(State())

  func give(_ value: Bool) {
    let waiter = state.withLock { state -> Handover<Bool>? in
      guard state.value == nil else { return nil }
      state.value = value
      return state.waiter.take()
    }
    waiter?.give(value)
  }

  func wait() async -> Bool {
    await Handover<Bool>.wait { waiter in
      let value = state.withLock { state in
        if state.value == nil { state.waiter = waiter }
        return state.value
      }
      if let value { waiter.give(value) }
    }
  }
}

/// A weak reference to the stream of an upload. The closure that needs this reference belongs to the stream, so a
/// strong reference would be a cycle.
private final class WeakStream: Sendable {
  struct Reference { weak var value: BodyStream? }
  let stream = Locked(Reference())

  func wake() { stream.withLock { $0.value }?.wake() }
}
