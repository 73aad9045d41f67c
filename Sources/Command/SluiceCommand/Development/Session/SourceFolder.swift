import Glibc
import SluicePluginHost
import SluiceSupport

/// A private folder for the files from which an engine is started. It is removed with this object. The initializer also
/// removes the folders that killed sessions have left.
///
/// A lock on the folder (flock(2)) shows that its session is running. The kernel releases the lock when the process
/// ends, for whatever reason.
final class SourceFolder {
  private static let prefix = "sluice-dev-"

  let path: String
  /// The folder, open and locked.
  private let lock: Int32

  /// - Parameter base: the folder in which this one is created, and in which abandoned folders are removed.
  init(in base: String = SourceFolder.base) throws(CommandError) {
    Self.clearAbandoned(in: base)
    // Until the new folder is locked, another session that starts at the same time can consider it abandoned and remove
    // it. In this case, another folder is created.
    while true {
      let path = try Self.make(in: base)
      let lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      while lock >= 0, flock(lock, LOCK_EX) != 0, errno == EINTR {}
      if lock >= 0, Self.isFolder(lock, at: path) {
        self.path = path
        self.lock = lock
        return
      }
      guard lock >= 0 || errno == ENOENT else {
        throw CommandError(.failed, "cannot open \(path): \(String(cString: strerror(errno)))")
      }
      if lock >= 0 { close(lock) }
    }
  }

  deinit {
    clear(FolderListing.names(in: path).map { "\(path)/\($0)" })
    rmdir(path)
    close(lock)
  }

  static var base: String { TemporaryFiles.folder }

  private static func make(in base: String) throws(CommandError) -> String {
    guard let path = Paths.makeFolder("\(base)/\(prefix)") else {
      throw CommandError(.failed, "cannot make a folder in \(base): \(String(cString: strerror(errno)))")
    }
    return path
  }

  /// The path of the file to which the engine's process with this number writes the record of its crash.
  func crashRecord(_ number: Int) -> String { "\(path)/crash-\(number)" }

  /// Writes a file, and returns its path.
  func write(_ bytes: [UInt8], as name: String) throws(CommandError) -> String {
    let file = "\(path)/\(name)"
    try ByteOutput.write(bytes, to: file, mode: 0o700)
    return file
  }

  func clear(_ files: some Sequence<String>) {
    for file in files { unlink(file) }
  }
}

// Folders that other sessions have left.
extension SourceFolder {
  /// Removes abandoned folders and the files in them. A folder is abandoned if its name has the form that this type
  /// uses, only this user can access it, and no process holds its lock.
  private static func clearAbandoned(in base: String) {
    for name in FolderListing.names(in: base) where name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 6 {
      let path = "\(base)/\(name)"
      // Does not follow a symbolic link, because usually everybody can write to the base and could have created a link.
      let folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard folder >= 0 else { continue }
      defer { close(folder) }
      var status = stat()
      guard fstat(folder, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o077 == 0,
        flock(folder, LOCK_EX | LOCK_NB) == 0, isFolder(folder, at: path)
      else { continue }
      for file in FolderListing.names(in: path) { unlinkat(folder, file, 0) }
      rmdir(path)
    }
  }

  /// Whether the open folder is still the folder at the path.
  private static func isFolder(_ folder: Int32, at path: String) -> Bool {
    var (opened, there) = (stat(), stat())
    guard fstat(folder, &opened) == 0, lstat(path, &there) == 0 else { return false }
    return opened.st_dev == there.st_dev && opened.st_ino == there.st_ino
  }
}
