import Glibc
import SluiceSupport
import SluiceUpdateRules

/// A lock on a file, which only one updater at a time can hold; other updaters wait for it.
///
/// An installation has two such locks. An updater holds the one for changes only for a moment. It holds the one for
/// fetching as long as the downloads from the mirror take.
final class FolderLock: Sendable {
  private let file: FileDescriptor

  private init(_ file: consuming FileDescriptor) { self.file = file }

  // Closing the descriptor is not enough: a child that was just forked has a copy of the descriptor, which would hold
  // the lock. So the lock is released explicitly.
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
