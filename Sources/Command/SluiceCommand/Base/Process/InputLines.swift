import CLinux
import Glibc
import SluiceMessages
import SluiceSupport
import Synchronization

/// The lines of a file, a pipe or a terminal. The buffer is as long as the longest line so far, and never longer than
/// the limit.
///
/// `Sendable` is unchecked: one thread reads lines, and other threads use only ``consumedBytes`` and ``interrupt()``.
final class InputLines: @unchecked Sendable {
  enum Line {
    /// The line without its line end. The pointer is valid until the next call.
    case text(UnsafeRawBufferPointer)
    /// A line longer than the limit. It was skipped and not held in memory.
    case tooLong
    case end
    case failure(CommandError)
  }

  private static let blockBytes = 256 << 10

  let name: String
  /// The number of the last line that was returned, counted from 1.
  private(set) var number = 0
  private let descriptor: Int32
  private let ownsDescriptor: Bool
  /// An event descriptor. It becomes readable when this object must stop reading.
  private let interruption: Int32
  private let limitBytes: Int
  /// The position of the first line in a file; -1 for an input that has no positions.
  private let startOffset: off_t
  private let consumed = Atomic<Int>(0)
  private var buffer: UnsafeMutableRawBufferPointer
  private var unread = 0..<0
  /// The buffer has no line end before this position.
  private var searched = 0
  private var isAtEnd = false

  /// - Parameter path: nil and `-` mean standard input.
  convenience init(path: String?, limitBytes: Int) throws(CommandError) {
    guard let path, path != "-" else {
      try StandardInput.check()
      self.init(StandardInput.descriptor, "standard input", ownsDescriptor: false, limitBytes)
      return
    }
    // Without O_NONBLOCK, a FIFO without a writer would be waited for here, where nothing can interrupt the process.
    // Later, `readMore` waits for the writer. Linux reports no end of a FIFO that has had no writer since it was opened.
    let isFIFO = SystemPath.status(of: path).map { $0.st_mode & S_IFMT == S_IFIFO } ?? false
    let descriptor = SystemPath.open(path, O_RDONLY | O_CLOEXEC | (isFIFO ? O_NONBLOCK : 0))
    guard descriptor >= 0 else {
      throw CommandError(.usage, "cannot read \(PlainText.path(path)): \(String(cString: strerror(errno)))")
    }
    self.init(descriptor, path, ownsDescriptor: true, limitBytes)
  }

  /// Takes ownership of a descriptor.
  convenience init(owning descriptor: Int32, name: String, limitBytes: Int) {
    self.init(descriptor, name, ownsDescriptor: true, limitBytes)
  }

  /// Borrows a descriptor, which the caller keeps open.
  convenience init(borrowing descriptor: Int32, name: String, limitBytes: Int) {
    self.init(descriptor, name, ownsDescriptor: false, limitBytes)
  }

  private init(_ descriptor: Int32, _ name: String, ownsDescriptor: Bool, _ limitBytes: Int) {
    self.descriptor = descriptor
    self.name = name
    self.ownsDescriptor = ownsDescriptor
    self.limitBytes = limitBytes
    startOffset = lseek(descriptor, 0, SEEK_CUR)
    interruption = eventfd(0, Int32(EFD_CLOEXEC))
    buffer = .allocate(byteCount: Self.blockBytes, alignment: 16)
  }

  deinit {
    if ownsDescriptor { close(descriptor) }
    close(interruption)
    buffer.deallocate()
  }

  /// Makes ``next()`` return ``Line/end`` instead of waiting. Can be called on any thread.
  func interrupt() { eventfd_write(interruption, 1) }

  /// The number of bytes of all lines that were returned so far. Can be read on any thread.
  var consumedBytes: Int { consumed.load(ordering: .relaxed) }

  /// Nil if the input is not a regular file.
  var file: FileIdentity? { FileIdentity(of: descriptor) }

  /// The size of a regular file; nil for any other input, whose size is unknown.
  var totalBytes: Int? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
  }

  /// A text that differs for another file, and after the file was written; nil for an input that is not a regular file.
  var identity: String? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.isRegularFile else { return nil }
    return "\(status.st_dev) \(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec) \(status.st_mtim.tv_nsec)"
  }

  /// Returns the next line, or ``Line/end`` at the end of the input or after ``interrupt()``.
  /// - Parameter willRead: called before each read, which may wait.
  func next(willRead: () -> Void = {}) -> Line {
    var isTooLong = false
    while true {
      if let line = takeLine() {
        return isTooLong || line.count > limitBytes ? .tooLong : .text(line)
      }
      if isAtEnd { return end(isTooLong: isTooLong) }
      if unread.count > limitBytes {
        isTooLong = true
        drop()
      }
      willRead()
      switch readMore() {
      case .success(let isMore): if !isMore { return end(isTooLong: isTooLong) }
      case .failure(let error): return .failure(error)
      }
    }
  }

  /// Returns ``Line/end``. If the last line is too long and has no line end, returns ``Line/tooLong`` first.
  private func end(isTooLong: Bool) -> Line {
    guard isTooLong, isAtEnd else { return .end }
    number += 1
    return .tooLong
  }

  /// Goes back to the first line of a regular file. Must be called on the thread that reads lines.
  func rewind() throws(CommandError) {
    guard startOffset >= 0, lseek(descriptor, startOffset, SEEK_SET) >= 0 else { throw failure(errno) }
    number = 0
    consumed.store(0, ordering: .relaxed)
    unread = 0..<0
    searched = 0
    isAtEnd = false
  }

  private func takeLine() -> UnsafeRawBufferPointer? {
    let rest = UnsafeRawBufferPointer(rebasing: buffer[searched..<unread.upperBound])
    if let start = rest.baseAddress, let found = memchr(start, 0x0A, rest.count) {
      return line(endingAt: searched + (UnsafeRawPointer(found) - start), lineEndBytes: 1)
    }
    searched = unread.upperBound
    return isAtEnd && !unread.isEmpty ? line(endingAt: unread.upperBound, lineEndBytes: 0) : nil
  }

  private func line(endingAt end: Int, lineEndBytes: Int) -> UnsafeRawBufferPointer {
    let start = unread.lowerBound
    unread = end + lineEndBytes..<unread.upperBound
    searched = unread.lowerBound
    number += 1
    consumed.wrappingAdd(end + lineEndBytes - start, ordering: .relaxed)
    let hasCarriageReturn = end > start && buffer[end - 1] == 0x0D
    let line = buffer[start..<(hasCarriageReturn ? end - 1 : end)]
    return UnsafeRawBufferPointer(rebasing: number == 1 ? line.withoutByteOrderMark : line)
  }

  /// Drops what the buffer holds of a line that is too long.
  private func drop() {
    consumed.wrappingAdd(unread.count, ordering: .relaxed)
    unread = unread.upperBound..<unread.upperBound
    searched = unread.lowerBound
  }

  /// Reads a block. Returns false at the end of the input, or if reading must stop.
  private func readMore() -> Result<Bool, CommandError> {
    makeRoom()
    while true {
      var ready = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: interruption, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&ready, 2, -1) >= 0 || errno == EINTR else { return .failure(failure(errno)) }
      if ready[1].revents & Int16(POLLNVAL) != 0 { return .failure(failure(EBADF, of: interruption)) }
      if ready[1].revents != 0 { return .success(false) }
      guard ready[0].revents != 0 else { continue }
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer[unread.upperBound...])
      let count = read(descriptor, room.baseAddress, room.count)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count >= 0 else { return .failure(failure(errno)) }
      isAtEnd = count == 0
      unread = unread.lowerBound..<unread.upperBound + count
      // At the end of the input, a last line without a line end can still be in the buffer.
      return .success(count > 0 || !unread.isEmpty)
    }
  }

  /// Drops what was read from a pipe or a terminal and not returned. If the last line is not complete, drops its rest
  /// too, without waiting for it: a process that reads the pipe next must not take the rest for a line.
  /// - Returns: the number of dropped lines.
  func dropRest() -> Int {
    guard startOffset < 0 else { return 0 }
    let bytes = buffer[unread]
    let isCut = !bytes.isEmpty && bytes[unread.upperBound - 1] != 0x0A
    let lines = bytes.count { $0 == 0x0A } + (isCut ? 1 : 0)
    drop()
    var byte: UInt8 = 0
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    for _ in 0..<(isCut ? limitBytes : 0) where byte != 0x0A {
      guard poll(&ready, 1, 0) > 0, read(descriptor, &byte, 1) == 1 else { break }
    }
    return lines
  }

  /// Moves unread bytes to the front of a buffer with room for one more block.
  private func makeRoom() {
    guard buffer.count - unread.upperBound < Self.blockBytes else { return }
    let needed = unread.count + Self.blockBytes
    if needed > buffer.count || buffer.count > 4 * max(needed, Self.blockBytes) {
      let larger = UnsafeMutableRawBufferPointer.allocate(
        byteCount: max(needed, min(unread.count * 2, limitBytes + Self.blockBytes)), alignment: 16)
      larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[unread]))
      buffer.deallocate()
      buffer = larger
    } else if let base = buffer.baseAddress {
      memmove(base, base + unread.lowerBound, unread.count)
    }
    searched -= unread.lowerBound
    unread = 0..<unread.count
  }

  private func failure(_ errorNumber: Int32, of culprit: Int32? = nil) -> CommandError {
    CommandError(.failed, "cannot read \(name): \(Descriptors.text(errorNumber, of: culprit ?? descriptor))")
  }

  /// Whether a line contains only white space.
  static func isBlank(_ text: UnsafeRawBufferPointer) -> Bool {
    text.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
  }
}
