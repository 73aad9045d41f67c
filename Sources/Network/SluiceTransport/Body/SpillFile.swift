import CLinux
import Glibc
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// A temporary file for a body too large for memory, written by ``SpillThreads``.
///
/// The file has no name, so a killed process leaves nothing behind. It can be opened by the path of its descriptor in
/// /proc, which must be mounted.
final class SpillFile: Sendable {
  /// The condition for which a caller waits.
  enum Wait {
    /// There is room for more pieces.
    case room
    /// The last byte is on disk.
    case end
  }

  /// The limits for the bytes that wait for the disk. When there are `fullBytes`, the producer should stop; when only
  /// `roomBytes` are left, it may continue.
  static let fullBytes = 1 << 20
  private static let roomBytes = 1 << 18
  /// Pieces are joined up to this size, so that a body of many small pieces costs neither an array nor a write for each.
  private static let joinedBytes = 1 << 16

  private struct State {
    var pieces: [[UInt8]] = []
    /// The number of bytes of all pieces that wait or are being written.
    var waitingBytes = 0
    var writtenBytes = 0
    /// Whether a thread is working on the file or will do so.
    var isScheduled = false
    var isAbandoned = false
    var wait: Wait?
    var descriptor: Int32 = -1
    var failure: TransportError?

    /// Returns whether the awaited condition is true now. If it is, stops waiting for it.
    mutating func takeWait() -> Bool {
      guard let wait else { return false }
      let hasCome = failure != nil || (wait == .room ? waitingBytes <= SpillFile.roomBytes : !isScheduled)
      if hasCome { self.wait = nil }
      return hasCome
    }
  }

  private let state = Locked(State())
  private let onProgress: @Sendable () -> Void

  /// - Parameter onProgress: called on any thread when the awaited condition is true, or the file has failed.
  init(onProgress: @escaping @Sendable () -> Void) { self.onProgress = onProgress }

  deinit {
    let descriptor = state.withLock { $0.descriptor }
    if descriptor >= 0 { close(descriptor) }
  }

  /// Takes a piece. The piece is accepted even if too many bytes wait already.
  ///
  /// - Returns: false if the producer should stop until `onProgress` is called.
  func append(_ piece: [UInt8]) throws(TransportError) -> Bool {
    let (failure, hasRoom, isNew) = state.withLock { state -> (TransportError?, Bool, Bool) in
      guard state.failure == nil else { return (state.failure, true, false) }
      if let last = state.pieces.indices.last, state.pieces[last].count + piece.count <= Self.joinedBytes {
        state.pieces[last] += piece
      } else {
        state.pieces.append(piece)
      }
      state.waitingBytes += piece.count
      let hasRoom = state.waitingBytes < Self.fullBytes
      if !hasRoom { state.wait = .room }
      defer { state.isScheduled = true }
      return (nil, hasRoom, !state.isScheduled)
    }
    if let failure { throw failure }
    if isNew { SpillThreads.write(self) }
    return hasRoom
  }

  /// Returns the file if all bytes are written. Otherwise returns nil, and `onProgress` is called when they are.
  func finish() throws(TransportError) -> FileBody? {
    let (failure, descriptor, byteCount) = state.withLock { state -> (TransportError?, Int32, Int) in
      guard state.failure == nil else { return (state.failure, -1, 0) }
      guard !state.isScheduled else {
        state.wait = .end
        return (nil, -1, 0)
      }
      defer { state.descriptor = -1 }
      return (nil, state.descriptor, state.writtenBytes)
    }
    if let failure { throw failure }
    guard descriptor >= 0 else { return nil }
    return FileBody(path: Self.path(descriptor), byteCount: byteCount) { close(descriptor) }
  }

  /// Drops the pieces that wait to be written, because the file is no longer needed.
  func abandon() {
    state.withLock { state in
      state.isAbandoned = true
      state.pieces = []
      state.wait = nil
    }
  }

  // MARK: Writing

  /// Writes the pieces that wait now. Returns false when nothing is left to write.
  func writePieces() -> Bool {
    let (pieces, opened) = state.withLock { state in
      defer { state.pieces = [] }
      return (state.pieces, state.descriptor)
    }
    do throws(TransportError) {
      let descriptor = opened >= 0 ? opened : try open()
      for piece in pieces {
        guard try write(piece, to: descriptor) else { break }
      }
    } catch { fail(error) }
    let (goesOn, hasCome) = state.withLock { state in
      state.isScheduled = !state.pieces.isEmpty
      return (state.isScheduled, state.takeWait())
    }
    if hasCome { onProgress() }
    return goesOn
  }

  private func open() throws(TransportError) -> Int32 {
    let descriptor = try Self.make()
    state.withLock { $0.descriptor = descriptor }
    return descriptor
  }

  /// Returns false if the file is no longer needed.
  private func write(_ piece: [UInt8], to descriptor: Int32) throws(TransportError) -> Bool {
    var offset = 0
    while offset < piece.count {
      let written = piece.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress?.advanced(by: offset), $0.count - offset)
      }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw Self.failure("write", errno) }
      offset += written
    }
    SpillThreads.noteProgress()
    let (goesOn, hasCome) = state.withLock { state in
      state.waitingBytes -= piece.count
      state.writtenBytes += piece.count
      return (!state.isAbandoned, state.takeWait())
    }
    if hasCome { onProgress() }
    return goesOn
  }

  /// Called when no thread could be started for the file.
  func couldNotBeWritten() {
    fail(Self.noThread)
    let hasCome = state.withLock { $0.takeWait() }
    if hasCome { onProgress() }
  }

  private func fail(_ error: TransportError) {
    state.withLock { state in
      state.failure = error
      state.pieces = []
    }
  }

  // MARK: The file

  /// Creates a file that only its owner can read, with no name in the folder.
  private static func make() throws(TransportError) -> Int32 {
    var descriptor = sluice_open_unnamed(TemporaryFiles.folder)
    // Where the file system or the kernel does not support files without a name, the file is created with a name, which
    // is then removed.
    if descriptor < 0, [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(errno) {
      let name = "\(TemporaryFiles.folder)/sluice-body-\(TemporaryFiles.randomName)"
      descriptor = Glibc.open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      if descriptor >= 0 { unlink(name) }
    }
    guard descriptor >= 0 else { throw failure("make", errno) }
    descriptor = SharedState.keepingStreams(descriptor)
    guard access(path(descriptor), R_OK) == 0 else {
      close(descriptor)
      throw TransportError(
        .bodyFile,
        "cannot reach the file of a body through \(path(descriptor)): \(SystemError.text(errno)); mount /proc")
    }
    return descriptor
  }

  private static func path(_ descriptor: Int32) -> String { "/proc/\(getpid())/fd/\(descriptor)" }

  private static func failure(_ verb: String, _ number: Int32) -> TransportError {
    let folder = TemporaryFiles.folder
    var advice = SystemError.advice(number)
    if advice.isEmpty { advice = "; set TMPDIR to a folder that can be written, or raise transport.spillBytes" }
    return TransportError(
      .bodyFile, "cannot \(verb) a temporary file in \(folder) for a body: \(SystemError.text(number))\(advice)")
  }

  private static let noThread = TransportError(
    .bodyFile, "cannot write the file of a body: no thread could be started; raise the limit of threads (ulimit -u)")
}
