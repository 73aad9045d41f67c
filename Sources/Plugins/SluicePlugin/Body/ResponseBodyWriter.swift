import CSluice
import SluiceSupport

/// Writes the body of a stage's own response piece by piece (`sluice.response-stream/1`, a draft). Can be used from any
/// thread.
public struct ResponseBodyWriter: Sendable {
  let body: ProducedBody

  /// Adds a copy of the bytes; waits while the host holds 256 KiB that have not been taken.
  ///
  /// - Throws: `CancellationError` if the body is closed, for example because the transaction has ended, and in a
  ///   cancelled task.
  public func write(_ bytes: [UInt8]) async throws { try await body.write(bytes) }
}

extension StageResponse {
  /// Writes the body of this response piece by piece. The response must come from ``StageRequest/respond(status:)`` or,
  /// in a response interceptor, from the server.
  ///
  ///     request.respond(status: 200).writeBody { writer in
  ///       for line in lines { try await writer.write(Array("\(line)\n".utf8)) }
  ///     }
  ///
  /// The closure runs on the loop of the transaction, after the call has returned. The body ends when the closure
  /// returns. An error that the closure throws ends the transaction. The task of the closure is cancelled when the
  /// transaction ends early. The deadline of the transaction bounds the whole body. The call fails if the host has no
  /// streams, or refuses one here.
  ///
  /// - Parameter byteCount: how many bytes will follow; nil if this is not known. A body of another length fails the
  ///   transaction.
  public func writeBody(
    byteCount: Int? = nil, _ produce: @escaping @Sendable (ResponseBodyWriter) async throws -> Void
  ) {
    call.attempt { () throws(StageFailure) in try ProducedBody.open(call, byteCount, produce) }
  }
}

/// A stream of the host, and the tasks that wait until it takes bytes again.
final class ProducedBody: Sendable {
  /// The host takes 1 MiB at once; smaller pieces keep less in memory.
  private static let pieceBytes = 256 << 10

  private struct State: Sendable {
    var stream: sluice_stream = 0
    var isClosed = false
    /// The number of times that the waiting tasks were woken.
    var wakeUps = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
    var task: Task<Void, Never>?
  }

  private let link: HostLink
  private let state = Locked(State())

  private init(_ link: HostLink) { self.link = link }

  /// Opens a stream inside the call, and starts the task that writes to the stream. [inside the call]
  static func open(
    _ call: ExchangeCall, _ byteCount: Int?,
    _ produce: @escaping @Sendable (ResponseBodyWriter) async throws -> Void
  ) throws(StageFailure) {
    if let byteCount, byteCount < 0 {
      throw StageFailure(message: "byteCount of the streamed response body: expected 0 or more, found \(byteCount)")
    }
    let body = ProducedBody(call.link)
    let context = Unmanaged.passRetained(body)
    var loop: sluice_loop = 0
    var isOpen = false
    defer { if !isOpen { context.release() } }
    isOpen = try call.write("the streamed response body") { _, exchange in
      guard let table = call.link.current.responseStreams else { return sluice_status(SLUICE_STATUS_REFUSED) }
      loop = call.link.context(of: exchange).loop
      var stream: sluice_stream = 0
      let length = byteCount.map { UInt64($0) } ?? .max
      let status = table.pointee.open(exchange, length, { ProducedBody.tell($0, $1) }, context.toOpaque(), &stream)
      body.state.withLock { $0.stream = stream }
      return status == SLUICE_STATUS_UNSUPPORTED ? sluice_status(SLUICE_STATUS_REFUSED) : status
    }
    if isOpen { body.start(on: loop, produce) }
  }

  private func start(
    on loop: sluice_loop, _ produce: @escaping @Sendable (ResponseBodyWriter) async throws -> Void
  ) {
    let task = Task(executorPreference: LoopExecutor(link, loop)) { [self] in
      do {
        try await produce(ResponseBodyWriter(body: self))
        end(nil)
      } catch {
        end(error as? StageFailure ?? StageFailure(message: String(describing: error)))
      }
    }
    let isClosed = state.withLock { state in
      state.task = task
      return state.isClosed
    }
    if isClosed { task.cancel() }
  }

  func write(_ bytes: [UInt8]) async throws {
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + Self.pieceBytes)
      try await write(bytes, start..<end)
      start = end
    }
  }

  private func write(_ bytes: [UInt8], _ range: Range<Int>) async throws {
    while true {
      try Task.checkCancellation()
      let (stream, before) = state.withLock { ($0.stream, $0.wakeUps) }
      let status = link.withHost { host in
        bytes.withUnsafeBytes { all in
          host.responseStreams?.pointee.write(host, stream, sluice_bytes(UnsafeRawBufferPointer(rebasing: all[range])))
        }
      }
      switch status ?? nil {
      case sluice_status(SLUICE_STATUS_OK): return
      case sluice_status(SLUICE_STATUS_LIMIT): await waitForRoom(after: before)
      default: throw CancellationError()
      }
    }
  }

  /// Returns when the waiting tasks were woken. Returns at once if this has already happened since the caller read
  /// `wakeUps`. The cancellation of one task wakes all: each task then checks whether it is cancelled, and otherwise
  /// writes again.
  private func waitForRoom(after wakeUps: Int) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          let isOver = state.isClosed || state.wakeUps != wakeUps
          if !isOver { state.waiting.append(continuation) }
          return isOver
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      wake()
    }
  }

  private func end(_ failure: StageFailure?) {
    let stream = state.withLock { $0.stream }
    link.withHost { host in
      guard let table = host.responseStreams else { return }
      guard let failure else { return _ = table.pointee.end(host, stream) }
      withText(failure.code.rawValue) { code in
        withText(failure.message) { _ = table.pointee.fail(host, stream, code, $0) }
      }
    }
  }

  /// The host reports that the stream takes bytes again, or that it is closed. The report that the stream is closed
  /// comes once, as the last report.
  private static func tell(_ context: UnsafeMutableRawPointer?, _ event: sluice_stream_event) {
    guard let context else { return }
    let reference = Unmanaged<ProducedBody>.fromOpaque(context)
    switch event {
    case sluice_stream_event(SLUICE_STREAM_CLOSED): reference.takeRetainedValue().close()
    case sluice_stream_event(SLUICE_STREAM_WRITABLE): reference.takeUnretainedValue().wake()
    default: break
    }
  }

  private func close() {
    let task = state.withLock { state in
      state.isClosed = true
      return state.task.take()
    }
    task?.cancel()
    wake()
  }

  private func wake() {
    let waiting = state.withLock { state in
      state.wakeUps += 1
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}
