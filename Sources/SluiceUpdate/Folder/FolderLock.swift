import Glibc
import SluiceSupport
import SluiceUpdateRules

/// A lock on a file, for one of two rights that only one updater at a time can have; others wait for the right. The
/// right to change an installation is held for a moment. The right to fetch for it is held for as long as the mirror
/// takes.
final class FolderLock: Sendable {
  private let file: FileDescriptor

  private init(_ file: consuming FileDescriptor) { self.file = file }

  // The lock is released explicitly, because after a mere `close` a child that was just forked could still hold it with
  // a copy of the descriptor.
  deinit { release() }

  /// Releases the lock. The lock is also released with this object.
  func release() { flock(file.raw, LOCK_UN) }

  /// How long to wait while another process changes the installation.
  static let limit = Duration.seconds(60)
  private static let pause = Duration.milliseconds(20)

  /// Waits for the lock.
  /// - Throws: ``UpdateError/Code/busy`` after the limit.
  /// - Parameter path: the path of the lock file.
  static func take(_ path: String, within limit: Duration = limit) async throws(UpdateError) -> FolderLock {
    let deadline = MonotonicClock.now + limit
    while true {
      guard let file = FileDescriptor(opening: path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600) else {
        throw DurableFile.failure(path, "cannot be opened")
      }
      if flock(file.raw, LOCK_EX | LOCK_NB) == 0 { return FolderLock(file) }
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw DurableFile.failure(path, "cannot be locked")
      }
      guard MonotonicClock.now < deadline, !Task.isCancelled else {
        throw UpdateError(
          .busy, DurableFile.folder(of: path),
          "another process has been working on it for \(limit.components.seconds) s",
          advice: "\"fuser \(path)\" names that process")
      }
      try? await Task.sleep(for: pause)
    }
  }
}
