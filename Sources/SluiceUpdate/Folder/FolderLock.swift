import Glibc
import SluiceSupport
import SluiceUpdateRules

/// The right to change an installation. Other processes and other engines of this process wait for it.
final class FolderLock: Sendable {
  private let file: FileDescriptor

  private init(_ file: consuming FileDescriptor) { self.file = file }

  /// Gives the right back; the end of the object does the same.
  func release() { flock(file.raw, LOCK_UN) }

  /// How long to wait; the longest part of an update that others wait for is a download.
  static let limit = Duration.seconds(60)
  private static let pause = Duration.milliseconds(20)

  /// Waits for the lock.
  /// - Throws: ``UpdateError/Code/busy`` after the limit.
  static func take(_ folder: UpdateFolder, within limit: Duration = limit) async throws(UpdateError) -> FolderLock {
    let deadline = MonotonicClock.now + limit
    while true {
      guard let file = FileDescriptor(opening: folder.lockPath, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600) else {
        throw DurableFile.failure(folder.lockPath, "cannot be opened")
      }
      if flock(file.raw, LOCK_EX | LOCK_NB) == 0 { return FolderLock(file) }
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw DurableFile.failure(folder.lockPath, "cannot be locked")
      }
      guard MonotonicClock.now < deadline, !Task.isCancelled else {
        throw UpdateError(
          .busy, folder.path, "another process has been changing it for \(limit.components.seconds) s",
          advice: "\"fuser \(folder.lockPath)\" names it")
      }
      try? await Task.sleep(for: pause)
    }
  }
}
