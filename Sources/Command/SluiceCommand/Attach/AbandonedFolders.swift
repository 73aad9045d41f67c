import Glibc
import SluiceSupport

/// Removes the folders of killed commands when no program uses them any more. Only folders that belong to this user and
/// have the name, the mode and the mark of such a folder are examined.
struct AbandonedFolders {
  /// The maximum number of folders to examine, so that a command never spends much time on this.
  private static let limit = 8

  let base: String

  func remove() {
    var left = Self.limit
    for name in FolderListing.names(in: base) where AttachFolder.isName(name) && left > 0 {
      if remove(name) { left -= 1 }
    }
  }

  /// - Returns: whether the folder was examined. It is not examined while its command runs.
  private func remove(_ name: String) -> Bool {
    guard let folder = open(name), let file = openMark(in: folder), flock(file.raw, LOCK_EX | LOCK_NB) == 0,
      let mark = AttachMark(reading: file), mark.isHere
    else { return false }
    // Checks twice: the first check can miss a process that starts during it and whose parent has already ended.
    let users = FolderUsers(of: name, mark)
    guard !users.mayExist, !users.mayExist else { return true }
    // The mark is removed last, so that a later command can finish an interrupted removal.
    let names = FolderListing.names(in: "/proc/self/fd/\(folder.raw)").filter { $0 != AttachMark.name }
    for file in names + [AttachMark.name] { unlinkat(folder.raw, file, 0) }
    rmdir("\(base)/\(name)")
    return true
  }

  private func open(_ name: String) -> FileDescriptor? {
    guard let folder = FileDescriptor(opening: "\(base)/\(name)", O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
      let status = folder.status(), status.st_uid == geteuid(), status.st_mode & 0o7777 == 0o700
    else { return nil }
    return folder
  }

  private func openMark(in folder: borrowing FileDescriptor) -> FileDescriptor? {
    let raw = openat(folder.raw, AttachMark.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard raw >= 0 else { return nil }
    let file = FileDescriptor(owning: raw)
    guard let status = file.status(), status.isRegularFile, status.st_uid == geteuid() else { return nil }
    return file
  }
}
