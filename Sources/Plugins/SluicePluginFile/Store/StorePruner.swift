import Glibc
import SluiceSupport

/// Removes copies that no process holds. Copies that cannot be removed stay until the next run.
struct StorePruner {
  let store: String
  /// The maximum number of copies that one run removes, so that opening a store never takes long.
  let limit: Int
  /// A staging folder has no lock for a moment after its creation, so a new staging folder is not touched. For the same
  /// reason, a new owner's file is not touched.
  private static let stagingAgeSeconds = 600

  func run() {
    var left = limit
    for name in FolderListing.names(in: store) where left > 0 {
      let entry = "\(store)/\(name)"
      if name.hasPrefix(StagingFolder.prefix) {
        if isOld(entry), removeUnused(entry) { left -= 1 }
      } else if name.hasPrefix(StoreOwner.prefix) {
        if isOld(entry), isUnused(entry) { unlink(entry) }
      } else if name.utf8.count == 64, isFolder(entry) {
        prune(entry, &left)
      }
    }
  }

  private func prune(_ entry: String, _ left: inout Int) {
    for generation in PluginStore.generations(of: entry) where left > 0 {
      if removeUnused("\(entry)/\(generation)") { left -= 1 }
    }
    rmdir(entry)
  }

  /// Removes the copy in a folder, if no process holds it.
  ///
  /// The files are removed through a descriptor of the folder, and not by their paths: another process might remove the
  /// folder at the same time, and a third process might then publish its copy in a new folder of the same name. The
  /// descriptor still refers to the old folder, so the new copy is not touched.
  private func removeUnused(_ path: String) -> Bool {
    guard let folder = FileDescriptor(opening: path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
      isUnused(StoreOwner.linkName, in: folder.raw)
    else { return false }
    unlinkat(folder.raw, StagingFolder.fileName, 0)
    unlinkat(folder.raw, StoreOwner.linkName, 0)
    // A folder with a copy in it is not removed.
    return rmdir(path) == 0
  }

  /// Whether the process that held this file has ended, or the file does not exist.
  private func isUnused(_ path: String, in folder: CInt = AT_FDCWD) -> Bool {
    let raw = openat(folder, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard raw >= 0 else { return errno == ENOENT }
    let file = FileDescriptor(owning: raw)
    return flock(file.raw, LOCK_EX | LOCK_NB) == 0
  }

  /// Whether the path is a folder, and not a link to a folder: the target of a link does not belong to the store.
  private func isFolder(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.isDirectory
  }

  private func isOld(_ folder: String) -> Bool {
    var status = stat()
    guard lstat(folder, &status) == 0 else { return false }
    // The subtraction uses the current time, because the file's time can be any number, so that a calculation with it
    // could overflow.
    return status.st_mtim.tv_sec < time(nil) - Self.stagingAgeSeconds
  }
}
