import Glibc
package import SluicePluginHost
import SluiceSupport

/// The trials that were passed, so that the next process need not repeat them.
///
/// Each is an empty file in the store's folder `passed`. Its name is a hash of everything that the trial depended on. If
/// the list cannot be read or written, the trials are only repeated.
package struct VerdictList: Sendable {
  /// If there are more files, all are removed when the next is added.
  private static let maximumCount = 1000

  private let folder: String

  package init(store: PluginStore) { folder = "\(store.path)/passed" }

  /// Whether the trial with this hash was passed. A file or a folder that another user could have made does not count.
  package func contains(_ trial: ContentHash) -> Bool {
    withFolder { folder in
      let file = openat(folder, trial.hex, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      guard file >= 0 else { return false }
      let status = FileDescriptor(owning: file).status()
      return isPrivate(status) && status?.isRegularFile == true
    } ?? false
  }

  /// Adds a trial that was passed.
  package func add(_ trial: ContentHash) {
    mkdir(folder, 0o700)
    withFolder { descriptor in
      let names = FolderListing.names(in: folder).filter { ContentHash(hex: $0) != nil }
      if names.count >= Self.maximumCount { for name in names { unlinkat(descriptor, name, 0) } }
      let file = openat(descriptor, trial.hex, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if file >= 0 { close(file) }
    }
  }

  /// Calls the body with a descriptor of the folder. Returns nil if there is no folder, or if another user could have
  /// changed it.
  private func withFolder<Result>(_ body: (CInt) -> Result) -> Result? {
    guard let folder = FileDescriptor(opening: folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), isPrivate(folder.status())
    else { return nil }
    return body(folder.raw)
  }

  private func isPrivate(_ status: stat?) -> Bool {
    guard let status else { return false }
    return status.st_uid == geteuid() && status.st_mode & 0o077 == 0
  }
}
