import CSluice
import SluiceMessages
import SluicePipeline
import SluiceSupport
import Synchronization

/// A response body that a plugin writes piece by piece: a bounded queue between the plugin's threads and the loop.
///
/// It closes when the last reference to its body is released; the plugin gets one call about this, on the loop.
/// Unchecked: the context belongs to the plugin, and the host only passes it back. A lock protects the other members.
final class ResponseStream: @unchecked Sendable {
  typealias Function = @convention(c) (UnsafeMutableRawPointer?, sluice_stream_event) -> Void

  /// When the queue has reached this size, it accepts no more bytes until it is half empty.
  static let queueBytes = 256 << 10
  static let writeBytes = 1 << 20

  private enum End {
    case open
    case ended
    case failed(TransactionError)
  }

  private struct State {
    /// The waiting bytes, which begin at `start`. They are in one piece of memory, even if the plugin wrote many small
    /// pieces.
    var bytes: [UInt8] = []
    var start = 0
    var end = End.open
    var isClosed = false
    /// Whether a write was refused, so that the plugin must be called when there is room again.
    var isAwaited = false

    var byteCount: Int { bytes.count - start }

    mutating func take(_ maximum: Int) -> [UInt8] {
      if start == 0, bytes.count <= maximum {
        defer { bytes = [] }
        return bytes
      }
      let piece = Array(bytes[start...].prefix(maximum))
      start += piece.count
      // The unread bytes are moved to the front only if they are not more than the bytes already read, so on average
      // each byte is moved at most once.
      if start * 2 >= bytes.count {
        bytes.removeFirst(start)
        start = 0
      }
      return piece
    }
  }

  let id: UInt64
  private let instance: PluginInstance
  private let loop: any EventLoop
  private let function: Function
  private let context: UncheckedPointer
  private let state = Locked(State())
  /// The body to wake when there are bytes to read. It is not retained, because its reader keeps it alive.
  private weak var body: BodyStream?

  init(
    _ id: UInt64, _ instance: PluginInstance, on loop: any EventLoop, _ function: @escaping Function,
    _ context: UncheckedPointer
  ) {
    self.id = id
    self.instance = instance
    self.loop = loop
    self.function = function
    self.context = context
  }

  /// The body that reads from this stream. [loop, once]
  func makeBody(length: Int?) -> BodyStream {
    let lease = Lease(self)
    let body = BodyStream(byteCount: length) { try lease.stream.read($0) }
    self.body = body
    return body
  }

  /// [any]
  func write(_ bytes: UnsafeBufferPointer<UInt8>) -> sluice_status {
    let status = state.withLock { state -> sluice_status in
      guard !state.isClosed, case .open = state.end else { return Status.stale }
      guard state.byteCount < Self.queueBytes else {
        state.isAwaited = true
        return Status.limit
      }
      state.bytes.append(contentsOf: bytes)
      return Status.ok
    }
    if status == Status.ok { body?.wake() }
    return status
  }

  /// Ends the body, with an error if there is one. [any]
  func end(_ error: TransactionError?) -> sluice_status {
    let isTaken = state.withLock { state -> Bool in
      guard !state.isClosed, case .open = state.end else { return false }
      state.end = error.map { .failed($0) } ?? .ended
      return true
    }
    if isTaken { body?.wake() }
    return isTaken ? Status.ok : Status.stale
  }

  /// [loop]
  private func read(_ maximum: Int) throws -> [UInt8]? {
    let (piece, isWritable) = try state.withLock { state throws -> ([UInt8]?, Bool) in
      guard state.byteCount > 0 else {
        switch state.end {
        case .open: return ([], false)
        case .ended: return (nil, false)
        case .failed(let error): throw error
        }
      }
      let piece = state.take(maximum)
      let isWritable = state.isAwaited && state.byteCount < Self.queueBytes / 2
      if isWritable { state.isAwaited = false }
      return (piece, isWritable)
    }
    if isWritable { loop.post { [self] in tell(SLUICE_STREAM_WRITABLE) } }
    return piece
  }

  /// Calls the plugin with the event. Does nothing if the stream is closed.
  private func tell(_ event: UInt32) {
    guard state.withLock({ !$0.isClosed }) else { return }
    instance.runPosted { function(context.address, event) }
  }

  private func tell(_ event: some BinaryInteger) { tell(UInt32(event)) }

  fileprivate func close() {
    let closing = Closing(self)
    loop.post { closing.run() }
  }

  /// [loop]
  fileprivate func finishClosing() {
    let wasOpen = state.withLock { state in
      defer {
        state.isClosed = true
        (state.bytes, state.start) = ([], 0)
      }
      return !state.isClosed
    }
    guard wasOpen else { return }
    instance.runPosted { function(context.address, sluice_stream_event(SLUICE_STREAM_CLOSED)) }
    instance.streams.remove(id)
    instance.openWork.update { $0 -= 1 }
  }

  /// Closes the stream when this object is released. The body keeps the object alive.
  private final class Lease: Sendable {
    let stream: ResponseStream
    init(_ stream: ResponseStream) { self.stream = stream }
    deinit { stream.close() }
  }

  /// Tells the plugin, once, that the stream is closed: on the loop, or at once if that loop has ended and drops posted
  /// work.
  private final class Closing: Sendable {
    private let stream: ResponseStream
    init(_ stream: ResponseStream) { self.stream = stream }
    deinit { run() }
    func run() { stream.finishClosing() }
  }
}

/// The open streams of an instance, by id.
final class ResponseStreamSet: Sendable {
  /// The ids are unique in the process, so that no instance can take another instance's stream for its own.
  private static let last = Atomic<UInt64>(0)

  private let streams = Locked<[UInt64: ResponseStream]>([:])

  func add(_ make: (UInt64) -> ResponseStream) -> ResponseStream {
    let id = Self.last.add(1, ordering: .relaxed).newValue
    let stream = make(id)
    streams.withLock { $0[id] = stream }
    return stream
  }

  subscript(id: UInt64) -> ResponseStream? { streams.withLock { $0[id] } }

  func remove(_ id: UInt64) { streams.withLock { $0[id] = nil } }
}
