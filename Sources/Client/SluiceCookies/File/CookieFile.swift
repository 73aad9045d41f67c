import Glibc
import SluiceSupport

/// The file of a jar. It is checked before it is read, replaced as a whole, and locked against other processes. Every
/// function waits for the disk.
struct CookieFile: Sendable {
  /// The maximum size of the file. A file with 3,000 cookies of the largest size is smaller.
  static let maximumBytes = 32 << 20
  private static let pause = Duration.milliseconds(10)

  let path: String

  // MARK: Reading

  /// The content; empty if there is no file.
  func read() throws(CookieJarError) -> [UInt8] {
    guard let file = FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else {
      if errno == ENOENT { return [] }
      throw errno == ELOOP ? unsafe("it is a symbolic link, which is not followed") : system("open", errno)
    }
    guard let status = file.status() else { throw system("examine", errno) }
    try check(status)
    guard status.st_size <= Self.maximumBytes, let bytes = file.readAll(capacity: Self.maximumBytes + 1) else {
      throw status.st_size > Self.maximumBytes ? tooLarge : system("read", errno)
    }
    guard bytes.count <= Self.maximumBytes else { throw tooLarge }
    return bytes
  }

  private func check(_ status: stat) throws(CookieJarError) {
    guard status.isRegularFile else { throw unsafe("it is not a regular file") }
    guard status.st_uid == geteuid() else { throw unsafe("it belongs to another user") }
    guard status.st_mode & 0o077 == 0 else {
      throw unsafe("other users can read or write it, but it contains secrets; run: chmod 600 \(path)")
    }
  }

  private var tooLarge: CookieJarError {
    CookieJarError(.damaged, path, "it has more than \(Self.maximumBytes) bytes, more than a jar can hold")
  }

  // MARK: Writing

  /// Checks, without changing anything, whether the file could be written now.
  func checkReplacing() throws(CookieJarError) {
    try checkKind()
    if let number = OutputTarget.obstacle(at: newPart()) { throw system("create a file beside it", number) }
  }

  private var folder: String { path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "." }

  /// Refuses anything that exists and is not a regular file: the new file would take its place.
  private func checkKind() throws(CookieJarError) {
    var status = stat()
    guard lstat(SystemPath.of(path), &status) == 0, OutputTarget(status) != .file else { return }
    throw unsafe("it is not a regular file")
  }

  /// Replaces the file. After a crash, it has either the old or the new content.
  func replace(with bytes: [UInt8]) throws(CookieJarError) {
    try checkKind()
    let part = newPart()
    guard let file = FileDescriptor(opening: part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600) else {
      throw system("create a file beside it", errno)
    }
    guard file.writeAll(bytes), fsync(file.raw) == 0, rename(part, SystemPath.of(path)) == 0 else {
      let number = errno
      unlink(part)
      throw system("write", number)
    }
    syncFolder()
  }

  /// A path for the new file until it takes the place of the earlier one.
  private func newPart() -> String { "\(SystemPath.of(path)).\(TemporaryFiles.randomName).new" }

  /// Also writes the folder to the disk, because it contains the entry of the new file. A failure is ignored, because
  /// the file has already been replaced.
  private func syncFolder() {
    if let folder = FileDescriptor(opening: folder, O_RDONLY | O_DIRECTORY) { fsync(folder.raw) }
  }

  // MARK: Locking

  /// Runs the body while no other jar in any process holds the lock of this file. The lock is a separate file in the
  /// same folder. That file is never removed.
  func withLock<Result>(
    timeout: Duration, _ body: () throws(CookieJarError) -> Result
  ) throws(CookieJarError) -> Result {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK
    guard let lock = FileDescriptor(opening: "\(path).lock", flags, mode: 0o600) else {
      throw system("open its lock \(path).lock", errno)
    }
    let deadline = MonotonicClock.now + timeout
    while flock(lock.raw, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else { throw system("lock", errno) }
      guard MonotonicClock.now < deadline else {
        throw CookieJarError(
          .locked, path, "another process holds \(path).lock, even after \(timeout); try again when it has ended")
      }
      var time = timespec(tv_sec: 0, tv_nsec: Int(Self.pause / .nanoseconds(1)))
      nanosleep(&time, nil)
    }
    return try body()
  }

  // MARK: Errors

  private func unsafe(_ message: String) -> CookieJarError { CookieJarError(.unsafe, path, message) }

  private func system(_ verb: String, _ number: CInt) -> CookieJarError {
    CookieJarError(.system, path, "cannot \(verb): \(SystemError.text(number))\(SystemError.advice(number))")
  }
}
