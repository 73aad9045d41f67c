import Glibc
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// A request body that a thread reads while it is sent: from standard input, or at a limited rate.
///
///     descriptor or bytes ── thread ──► at most 256 KiB ──► BodyStream ──► transport
final class PumpedBody: Sendable {
  enum Source: Sendable {
    /// The body is read from this descriptor, which stays open.
    case descriptor(Int32)
    case file(FileBody)
    case bytes([UInt8])
  }

  private struct State: Sendable {
    var waiting: [UInt8] = []
    var hasBegun = false
    var isOver = false
    var failure: CommandError?
    weak var stream: BodyStream?
  }

  private static let fullBytes = 256 << 10
  private static let pieceBytes = 64 << 10

  private let source: Source
  /// Bytes per second; nil for no limit.
  private let rate: Int?
  private let state = Monitor(State())

  private init(_ source: Source, rate: Int?) {
    self.source = source
    self.rate = rate
  }

  static func make(_ source: Source, byteCount: Int? = nil, rate: Int? = nil) -> Body {
    let pump = PumpedBody(source, rate: rate)
    let stream = BodyStream(byteCount: byteCount) { try pump.take($0) }
    pump.state.withLock { $0.stream = stream }
    return .stream(stream)
  }

  /// Returns a body with the same content that is sent at a limited rate. A small body is returned unchanged.
  static func paced(_ body: Body, rate: Int) -> Body {
    switch body {
    case .empty, .stream: body
    // A small body is sent without the limit, because a stream could not be sent again for a retry or redirect.
    case .bytes(let bytes) where bytes.count <= max(16 << 10, rate / 10): body
    case .bytes(let bytes): make(.bytes(bytes), byteCount: bytes.count, rate: rate)
    case .file(let file): make(.file(file), byteCount: file.byteCount, rate: rate)
    }
  }

  /// Called on the loop. The first call starts the thread. If a request is never sent, its input is therefore never
  /// read.
  private func take(_ maximum: Int) throws -> [UInt8]? {
    let isFirst = state.withLock { state in
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    if isFirst { try SystemThread.begin("sluice-input") { [self] in pump() }.detach() }
    let (piece, failure) = state.withLock { state -> ([UInt8]?, CommandError?) in
      guard state.waiting.isEmpty else {
        let piece = Array(state.waiting.prefix(maximum))
        state.waiting.removeFirst(piece.count)
        return (piece, nil)
      }
      return (state.isOver ? nil : [], state.failure)
    }
    state.broadcast()
    if let failure { throw failure }
    return piece
  }

  private func pump() {
    do throws(CommandError) {
      switch source {
      case .descriptor(let descriptor): try pump(descriptor)
      case .file(let file):
        guard let descriptor = FileDescriptor(opening: file.path, O_RDONLY | O_CLOEXEC) else {
          throw CommandError(.failed, "cannot read \(PlainText.path(file.path)): \(SystemError.text())")
        }
        try pump(descriptor.raw)
      case .bytes(let bytes):
        var pace = Pace(rate)
        for start in stride(from: 0, to: bytes.count, by: pace.pieceBytes(Self.pieceBytes)) {
          put(bytes[start..<min(bytes.count, start + pace.pieceBytes(Self.pieceBytes))], &pace)
        }
      }
      end(nil)
    } catch { end(error) }
  }

  private func pump(_ descriptor: Int32) throws(CommandError) {
    var pace = Pace(rate)
    var buffer = [UInt8](repeating: 0, count: pace.pieceBytes(Self.pieceBytes))
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count == 0 { return }
      guard count > 0 else {
        if errno == EINTR { continue }
        guard errno == EAGAIN else { throw CommandError(.failed, "cannot read the body: \(SystemError.text())") }
        Descriptors.waitUntilReady(descriptor, for: POLLIN)
        continue
      }
      put(buffer[..<count], &pace)
    }
  }

  private func put(_ piece: ArraySlice<UInt8>, _ pace: inout Pace) {
    pace.wait(for: piece.count)
    let stream = state.wait { state -> BodyStream?? in
      guard state.waiting.count < Self.fullBytes else { return nil }
      state.waiting += piece
      return .some(state.stream)
    }
    stream?.wake()
  }

  private func end(_ failure: CommandError?) {
    let stream = state.withLock { state in
      state.isOver = true
      state.failure = failure
      return state.stream
    }
    stream?.wake()
  }
}
