import Glibc
package import SluicePluginHost
import SluiceSupport

/// The rules for the store's folder.
package enum StoreFolder {
  /// The purpose of a folder.
  package enum Purpose {
    /// The folder has libraries, whose code is mapped from their files; so it must not be on a `noexec` file system.
    case libraries
    case files
  }

  /// Missing folders are created with mode 0700, as the XDG specification demands.
  package static func prepare(_ path: String, for purpose: Purpose = .libraries) throws(PluginError) {
    try makeAll(path)
    guard let folder = FileDescriptor(opening: path, O_RDONLY | O_DIRECTORY), let status = folder.status() else {
      throw error(path, "cannot be opened")
    }
    var volume = statvfs()
    guard fstatvfs(folder.raw, &volume) == 0 else { throw error(path, "cannot be examined") }
    let flags = UInt(volume.f_flag) & (purpose == .files ? ~MountFlag.noExec : .max)
    if let error = refusal(
      of: path, mode: status.st_mode, owner: status.st_uid, user: geteuid(), mountFlags: flags)
    {
      throw error
    }
  }

  static func refusal(
    of path: String, mode: mode_t, owner: uid_t, user: uid_t, mountFlags: UInt
  ) -> PluginError? {
    let subject = PluginError.Subject.store(path: path)
    if owner != user {
      return PluginError(.store, subject, "belongs to another user (\(owner))", advice: "name a folder of your own")
    }
    if mode & 0o077 != 0 {
      return PluginError(.store, subject, "is open to other users", advice: "run: chmod 700 \(path)")
    }
    if mountFlags & MountFlag.noExec != 0 {
      return PluginError(
        .store, subject, "is on a file system mounted noexec, from which no library can be loaded",
        advice: "name a folder elsewhere")
    }
    if mountFlags & UInt(ST_RDONLY) != 0 {
      return PluginError(.store, subject, "is on a read-only file system", advice: "name a folder elsewhere")
    }
    return nil
  }

  /// Fails if a folder of copies belongs to another user or is open to others.
  static func require(entry: borrowing FileDescriptor, at path: String, in store: String) throws(PluginError) {
    guard let status = entry.status() else { throw error(store, "cannot examine \(path)") }
    guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
      throw PluginError(
        .store, .store(path: store), "its folder \(path) belongs to another user or is open to others",
        advice: "remove it: rm -r \(path)")
    }
  }

  /// Why a folder of copies cannot be opened, with `errno`.
  static func refusal(ofEntry path: String, in store: String) -> PluginError {
    let number = errno
    guard number == ELOOP || number == ENOTDIR else { return error(store, "cannot open \(path)") }
    return PluginError(
      .store, .store(path: store), "\(path) is a symbolic link or a file, but must be a folder of private copies",
      advice: "find out who made it, and remove it: rm \(path)")
  }

  /// An error with the system's message for `errno`.
  static func error(_ path: String, _ what: String) -> PluginError {
    let number = errno
    let isFull = number == ENOSPC || number == EDQUOT
    return PluginError(
      .store, .store(path: path), "\(what): \(SystemError.text(number))",
      advice: isFull ? "free some space, or name a folder elsewhere" : "name a folder that this user can write to")
  }

  private static func makeAll(_ path: String) throws(PluginError) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    let parent = LibraryPermissions.folder(of: path)
    guard errno == ENOENT, parent != path else { throw error(path, "cannot be made") }
    try makeAll(parent)
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw error(path, "cannot be made") }
  }
}
