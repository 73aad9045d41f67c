import Glibc
import SluiceMessages
import SluiceSupport

/// A file descriptor with its own writer thread: appending never waits for the disk or for the reader of a pipe.
///
/// The callers limit the size of the buffer: they check ``hasRoom``, and if there is no room, they wait until the
/// listener is told that there is room.
final class ByteOutput: Sendable {
  /// Handlers that the writer's thread calls.
  struct Listener: Sendable {
    /// There is room again after the buffer was full.
    var onRoom: @Sendable () -> Void
    /// Called once, when writing has failed. After a failure, nothing more is written.
    var onFailure: @Sendable (Failure) -> Void
  }

  private struct State {
    var pending: [UInt8] = []
    var isWriterIdle = false
    var isFinishing = false
    var wasFull = false
    var failure: Failure?
    /// -1 until the file is opened.
    var descriptor: Int32
    /// The file must exist at the end, even if it is empty.
    var isWanted = false
    var hasBytes = false
    /// Whether the writer has taken bytes that it has not written yet.
    var isWriting = false
    var writtenBytes = 0
    /// The file that the output has created or changed; nil before it has done so.
    var identity: FileIdentity?
    /// Whether the output ignores its rate from now on.
    var isHurried = false
    /// Whether the writer waits because another output must end first.
    var isHeld = false
  }

  /// An output that has bytes to write, with the number of bytes that it has written so far. If two values that were
  /// taken at different times are equal, the output has written nothing in between.
  struct Waiting: Hashable, Sendable {
    let name: String
    let output: ObjectIdentifier?
    let writtenBytes: Int
  }

  /// Writes a whole file and waits until it is written. Does not follow a symbolic link at the path.
  static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws(CommandError) {
    let descriptor = Glibc.open(
      SystemPath.of(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { throw CommandError(.failed, Failure(name: path, errorNumber: errno).description) }
    let output = try ByteOutput(owning: descriptor, name: path)
    output.append(bytes)
    if let failure = output.finish() { throw CommandError(.failed, failure.description) }
  }

  private static let highWaterBytes = 4 << 20
  /// The limit of the buffer while an output is held, and the maximum limit for an output with a rate.
  private static let smallWaterBytes = 64 << 10
  /// If fewer bytes are pending, the writer waits a moment for more, so that a stream of short lines costs few
  /// wake-ups.
  private static let worthwhileBytes = 64 << 10
  private static let lingerNanoseconds = 1_000_000

  let name: String
  /// The file, which is opened when the first bytes must be written; nil if the descriptor is open from the start.
  private let file: OutputFile?
  /// Bytes per second; nil for no limit.
  private let rate: Int?
  private let ownsDescriptor: Bool
  /// False for a file that has no name, such as a deleted file that was opened through `/dev/fd`.
  private let hasName: Bool
  private let state: Monitor<State>
  private let listener = Locked<Listener?>(nil)
  private let ended = Monitor(false)

  /// - Parameters:
  ///   - path: a file to create or to truncate; nil and the names of standard output mean standard output. Nothing is
  ///     truncated if a name means standard output or standard error.
  ///   - input: the file that is being read. Writing to the same file is wrong usage, and leaves it unchanged.
  ///   - patience: how long a FIFO may have no reader.
  convenience init(
    path: String?, besides input: FileIdentity? = nil, rate: Int? = nil, patience: Duration = OutputPatience.reader
  ) throws(CommandError) {
    guard let path, !StandardOutput.isNamed(by: path) else {
      try ByteOutput.check(StandardOutput.descriptor, "standard output", isNot: input)
      try self.init(StandardOutput.descriptor, "standard output", ownsDescriptor: false, rate: rate)
      return
    }
    guard !StandardError.isNamed(by: path) else {
      try ByteOutput.check(StandardError.dataDescriptor, path, isNot: input)
      try self.init(StandardError.dataDescriptor, path, ownsDescriptor: false, rate: rate)
      return
    }
    // The file is emptied only after the check that it is not the input.
    let descriptor = Self.open(path, O_WRONLY | O_CREAT, patience)
    guard descriptor >= 0 else { throw Self.unopened(path, errno) }
    do throws(CommandError) {
      try ByteOutput.check(descriptor, path, isNot: input)
      if FileIdentity(of: descriptor) != nil { try OutputLock.take(descriptor, PlainText.path(path)) }
      try ByteOutput.empty(descriptor, path)
    } catch {
      close(descriptor)
      throw error
    }
    try self.init(descriptor, path, ownsDescriptor: true, rate: rate)
  }

  /// An output whose file is created or changed only when there are bytes to write, or after ``want()``.
  ///
  /// - Parameters:
  ///   - rate: how many bytes are written per second; nil for no limit.
  ///   - patience: how long a FIFO may have no reader.
  convenience init(
    whenNeeded name: OutputName?, besides input: FileIdentity?, rate: Int? = nil,
    patience: Duration = OutputPatience.reader
  ) throws(CommandError) {
    guard let name, !StandardOutput.isNamed(by: name.path), let file = OutputFile(name, besides: input) else {
      try self.init(path: name?.path, besides: input, rate: rate, patience: patience)
      return
    }
    try file.check()
    try self.init(-1, name.path, ownsDescriptor: true, file: file, rate: rate)
  }

  /// An output that appends to a file.
  convenience init(appendingTo path: String, patience: Duration) throws(CommandError) {
    guard !StandardError.isNamed(by: path) else {
      try self.init(path: path)
      return
    }
    let descriptor = Self.open(path, O_WRONLY | O_CREAT | O_APPEND, patience)
    guard descriptor >= 0 else { throw Self.unopened(path, errno) }
    try self.init(descriptor, path, ownsDescriptor: true)
  }

  /// Takes ownership of a descriptor.
  convenience init(owning descriptor: Int32, name: String) throws(CommandError) {
    try self.init(descriptor, name, ownsDescriptor: true)
  }

  private init(
    _ descriptor: Int32, _ name: String, ownsDescriptor: Bool, file: OutputFile? = nil, rate: Int? = nil
  ) throws(CommandError) {
    state = Monitor(State(descriptor: descriptor))
    self.name = name
    self.file = file
    self.rate = rate
    self.ownsDescriptor = ownsDescriptor
    hasName = descriptor < 0 || Self.hasName(descriptor)
    Self.writing.withLock { $0[ObjectIdentifier(self)] = self }
    do throws(CommandError) {
      try SystemThread.begin("sluice-output") { [self] in
        writeAll()
        Self.writing.withLock { $0[ObjectIdentifier(self)] = nil }
        ended.update { $0 = true }
      }.detach()
    } catch {
      Self.writing.withLock { $0[ObjectIdentifier(self)] = nil }
      throw error
    }
  }

  /// All outputs that have a writing thread.
  private static let writing = Locked<[ObjectIdentifier: ByteOutput]>([:])

  /// The path that is being opened. Opening a pipe waits for its reader.
  private static let opening = Locked<String?>(nil)

  private static func open(_ path: String, _ flags: Int32, _ patience: Duration) -> Int32 {
    opening.withLock { $0 = path }
    let descriptor = OutputTarget.open(path, flags, mode: 0o666, limit: patience)
    let errorNumber = errno
    opening.withLock { $0 = nil }
    errno = errorNumber
    return descriptor
  }

  /// The outputs that have something to write, or are being opened.
  static var waiting: Set<Waiting> {
    var found: Set<Waiting> = []
    if let path = opening.withLock({ $0 }) { found.insert(Waiting(name: path, output: nil, writtenBytes: 0)) }
    for (id, output) in writing.withLock({ $0 }) {
      let (isBusy, count) = output.state.withLock { ($0.isWriting || !$0.pending.isEmpty, $0.writtenBytes) }
      if isBusy { found.insert(Waiting(name: output.name, output: id, writtenBytes: count)) }
    }
    return found
  }

  /// Makes every output write its pending bytes and accept no more. It is called when something other than the command
  /// ends the process. Bytes that are not written within the limit are lost. Can be called on any thread, even while
  /// other threads hold locks.
  static func writeOut(within limit: Duration) {
    let isWritten = Monitor(false)
    // Runs on a separate thread, so that a lock which is never released blocks only that thread.
    let thread = try? SystemThread.begin("sluice-last-out") {
      let outputs = writing.withLock { Array($0.values) }
      for output in outputs { output.state.update { $0.isFinishing = true } }
      for output in outputs { output.ended.wait { $0 ? () : nil } }
      isWritten.update { $0 = true }
    }
    guard let thread else { return }
    thread.detach()
    isWritten.wait(upTo: limit) { $0 ? () : nil }
  }

  static func unopened(_ path: String, _ errorNumber: Int32) -> CommandError {
    if path.isEmpty {
      return CommandError(.usage, "the name of an output file is empty; name a file, or - for standard output")
    }
    if errorNumber == EISDIR {
      return CommandError(.failed, "cannot write \(PlainText.path(path)): it is a folder; name a file")
    }
    return CommandError(.failed, Failure(name: path, errorNumber: errorNumber).description)
  }

  private static func check(
    _ descriptor: Int32, _ name: String, isNot input: FileIdentity?
  ) throws(CommandError) {
    guard let input, FileIdentity(of: descriptor) == input else { return }
    throw CommandError(.usage, "\(PlainText.path(name)) is also the input; name another output")
  }

  private static func empty(_ descriptor: Int32, _ name: String) throws(CommandError) {
    guard FileIdentity(of: descriptor) != nil, ftruncate(descriptor, 0) != 0 else { return }
    throw CommandError(.failed, Failure(name: name, errorNumber: errno).description)
  }

  /// Call it before the first bytes are appended.
  func listen(_ listener: Listener) { self.listener.withLock { $0 = listener } }

  /// Takes the bytes in any case, even if there is no room. Can be called on any thread.
  /// - Returns: whether there is room for more.
  @discardableResult
  func append(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { append($0) } }

  /// Appends a copy of borrowed bytes, even if there is no room. Can be called on any thread.
  /// - Returns: whether there is room for more.
  @discardableResult
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let (wakes, hasRoom) = state.withLock { state in
      guard state.failure == nil else { return (false, true) }
      state.pending += bytes
      if !bytes.isEmpty { state.hasBytes = true }
      let wakes = state.isWriterIdle
      state.isWriterIdle = false
      if state.pending.count >= (state.isHeld ? Self.smallWaterBytes : fullBytes) { state.wasFull = true }
      return (wakes, !state.wasFull)
    }
    if wakes { state.broadcast() }
    return hasRoom
  }

  /// The limit of the buffer. If there is a rate, this is the number of bytes in a tenth of a second.
  private var fullBytes: Int { rate.map { max(4096, min(Self.smallWaterBytes, $0 / 10)) } ?? Self.highWaterBytes }

  /// Writes nothing until ``release()``.
  func hold() { state.update { $0.isHeld = true } }

  /// Writes the held bytes, and from then on all bytes as they are appended.
  func release() { state.update { $0.isHeld = false } }

  /// After this call, the file is created or emptied even if nothing is appended.
  func want() { state.update { $0.isWanted = true } }

  /// The first failure so far.
  var failure: Failure? { state.withLock { $0.failure } }

  /// The number of bytes that the file or the stream has taken.
  var writtenBytes: Int { state.withLock { $0.writtenBytes } }

  /// Whether anything was appended.
  var hasBytes: Bool { state.withLock { $0.hasBytes } }

  var hasRoom: Bool { state.withLock { !$0.wasFull || $0.failure != nil } }

  /// Removes the file that was written, unless its name now belongs to another file. Call it after ``finish()``.
  func remove(_ name: OutputName) {
    if let identity = state.withLock({ $0.identity }) { name.remove(identity) }
  }

  /// Writes the remaining bytes as fast as possible, ignoring the rate.
  func hurry() { state.withLock { $0.isHurried = true } }

  /// Writes the remaining bytes and closes. Returns any failure since the beginning. Call it once.
  ///
  /// - Parameter patience: if the output takes no bytes for this long, the rest is given up; nil waits.
  func finish(patience: Duration? = nil) -> Failure? {
    state.withLock { $0.isFinishing = true }
    state.broadcast()
    guard waitForEnd(patience) else { return Failure(name: name, errorNumber: EAGAIN, stuck: patience) }
    let (descriptor, earlier) = state.withLock { ($0.descriptor, $0.failure) }
    guard ownsDescriptor, descriptor >= 0 else { return earlier }
    let isRemoved = hasName && !Self.hasName(descriptor)
    guard close(descriptor) == 0 else { return earlier ?? Failure(name: name, errorNumber: errno) }
    return earlier ?? (isRemoved ? Failure(name: name, errorNumber: ENOENT, isRemoved: true) : nil)
  }

  /// Waits until everything is written. Returns false if the output has taken no bytes for `patience`.
  private func waitForEnd(_ patience: Duration?) -> Bool {
    guard let patience else {
      ended.wait { $0 ? () : nil }
      return true
    }
    while true {
      let earlier = state.withLock { $0.writtenBytes }
      if ended.wait(upTo: patience, { $0 ? () : nil }) != nil { return true }
      if state.withLock({ $0.writtenBytes }) == earlier { return false }
    }
  }

  private static func hasName(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) != 0 || status.st_nlink > 0
  }

  private func writeAll() {
    var batch: [UInt8] = []
    var pace = Pace(rate)
    while take(&batch) {
      do throws(Failure) {
        try write(batch, to: try open(), &pace)
      } catch { return fail(error) }
      batch.removeAll(keepingCapacity: batch.capacity <= Self.highWaterBytes)
    }
    guard state.withLock({ $0.isWanted }) else { return }
    do throws(Failure) { _ = try open() } catch { fail(error) }
  }

  private func fail(_ failure: Failure) {
    state.withLock { state in
      state.failure = failure
      state.pending = []
    }
    listener.withLock { $0 }?.onFailure(failure)
  }

  /// Returns the descriptor, and opens the file first if it is not open yet.
  private func open() throws(Failure) -> Int32 {
    let known = state.withLock { $0.descriptor }
    guard known < 0, let file else { return known }
    let opened = try file.open()
    state.withLock { state in
      state.descriptor = opened
      state.identity = FileIdentity(of: opened)
    }
    return opened
  }

  /// Waits for bytes and moves them into the batch, which must be empty. Returns false when the output ends and no
  /// bytes are left.
  private func take(_ batch: inout [UInt8]) -> Bool {
    let isWorthwhile: Bool? = state.wait { state in
      state.isWriting = false
      if state.isHeld { return nil }
      if !state.pending.isEmpty { return state.isFinishing || state.pending.count >= Self.worthwhileBytes }
      if state.isFinishing { return true }
      state.isWriterIdle = true
      return nil
    }
    if isWorthwhile == false {
      var pause = timespec(tv_sec: 0, tv_nsec: Self.lingerNanoseconds)
      nanosleep(&pause, nil)
    }
    let (isMore, makesRoom) = state.withLock { state in
      swap(&state.pending, &batch)
      defer { state.wasFull = false }
      state.isWriting = !batch.isEmpty
      return (!batch.isEmpty || !state.isFinishing, state.wasFull)
    }
    if makesRoom { listener.withLock { $0 }?.onRoom() }
    return isMore
  }

  private func write(_ bytes: [UInt8], to descriptor: Int32, _ pace: inout Pace) throws(Failure) {
    var written = 0
    while written < bytes.count {
      let size = pace.pieceBytes(bytes.count - written)
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress?.advanced(by: written), size) }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        Descriptors.waitUntilReady(descriptor, for: POLLOUT)
        continue
      }
      guard count > 0 else {
        let errorNumber = count < 0 ? errno : EIO
        throw Failure(name: name, errorNumber: errorNumber, text: Descriptors.text(errorNumber, of: descriptor))
      }
      written += count
      let isHurried = state.withLock { state in
        state.writtenBytes += count
        return state.isHurried
      }
      if !isHurried { pace.wait(for: count) }
    }
  }
}
