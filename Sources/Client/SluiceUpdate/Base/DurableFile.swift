package import Glibc
import SluiceSupport
package import SluiceUpdateRules

/// Writes files that are whole or absent even after a crash, and are on disk when a function returns. Every function
/// blocks until the disk has answered.
package enum DurableFile {
  /// Reads a regular file.
  package static func read(_ path: String, limitBytes: Int) throws(UpdateError) -> [UInt8] {
    guard let bytes = try readIfPresent(path, limitBytes: limitBytes) else {
      throw UpdateError(.state, path, "there is no such file")
    }
    return bytes
  }

  /// Returns nil if there is no such file.
  package static func readIfPresent(_ path: String, limitBytes: Int) throws(UpdateError) -> [UInt8]? {
    guard let file = FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY), let status = file.status() else {
      if errno == ENOENT { return nil }
      throw failure(path, "cannot be read")
    }
    guard status.isRegularFile else { throw UpdateError(.state, path, "is not a regular file") }
    guard let bytes = file.readAll(capacity: limitBytes + 1) else { throw failure(path, "cannot be read") }
    guard bytes.count <= limitBytes else {
      throw UpdateError(.tooLarge, path, "has more than \(limitBytes) bytes")
    }
    return bytes
  }

  /// Replaces a file: writes a new file beside it, syncs and renames that file, and syncs the folder.
  package static func replace(_ path: String, with bytes: [UInt8], mode: mode_t = 0o600) throws(UpdateError) {
    let temporary = "\(folder(of: path))/.\(TemporaryFiles.randomName).new"
    do { try write(bytes, to: temporary, mode) } catch {
      unlink(temporary)
      throw error
    }
    guard rename(temporary, path) == 0 else {
      let error = failure(path, "cannot be replaced")
      unlink(temporary)
      throw error
    }
    try syncFolder(of: path)
  }

  /// Writes a new file, and never replaces an existing one.
  package static func create(_ bytes: [UInt8], at path: String, mode: mode_t) throws(UpdateError) {
    let temporary = "\(folder(of: path))/.\(TemporaryFiles.randomName).new"
    defer { unlink(temporary) }
    try write(bytes, to: temporary, mode)
    guard link(temporary, path) == 0 else {
      if errno == EEXIST {
        throw UpdateError(.usage, path, "exists already", advice: "move it away, or choose another name")
      }
      throw failure(path, "cannot be written")
    }
    try syncFolder(of: path)
  }

  /// Makes a folder that only this user can use, and the missing folders above it.
  package static func makeFolder(_ path: String, mode: mode_t = 0o700) throws(UpdateError) {
    if mkdir(path, mode) == 0 { return }
    if errno == ENOENT, path.contains("/") {
      try makeFolder(folder(of: path), mode: mode)
      if mkdir(path, mode) == 0 { return }
    }
    var status = stat()
    guard errno == EEXIST, stat(path, &status) == 0, status.isDirectory else {
      throw failure(path, "cannot be made as a folder")
    }
  }

  /// Removes a file. It is not an error if the file does not exist.
  package static func remove(_ path: String) throws(UpdateError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw failure(path, "cannot be removed") }
    try syncFolder(of: path)
  }

  package static func syncFolder(of path: String) throws(UpdateError) {
    guard let folder = FileDescriptor(opening: folder(of: path), O_RDONLY | O_DIRECTORY), fsync(folder.raw) == 0 else {
      throw failure(path, "its folder cannot be synced to disk")
    }
  }

  /// An error with the system's text for `errno`.
  package static func failure(_ path: String, _ what: String) -> UpdateError {
    let number = errno
    return UpdateError(.state, path, "\(what): \(SystemError.text(number))\(SystemError.advice(number))")
  }

  package static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func write(_ bytes: [UInt8], to path: String, _ mode: mode_t) throws(UpdateError) {
    guard let file = FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode) else {
      throw failure(path, "cannot be written")
    }
    guard file.writeAll(bytes), fsync(file.raw) == 0 else { throw failure(path, "cannot be written") }
  }
}
