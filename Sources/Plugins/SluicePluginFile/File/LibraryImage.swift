import Glibc
package import SluicePluginHost
import SluiceSupport

/// The bytes of a plugin's library, read once. Later steps use these bytes and never read the file again.
package struct LibraryImage: Sendable {
  /// The path as it was given; for messages.
  package let path: String
  /// The path without symbolic links.
  package let realPath: String
  let content: PageBytes
  package let hash: ContentHash

  package static let sizeLimitBytes = 512 << 20

  /// Reads a regular file that only its owner may write. Never blocks on a FIFO. If the file changes during the call,
  /// the call fails with a transient error.
  ///
  /// - Parameter name: the library's name in messages; by default the path.
  package init(
    reading path: String, as name: String? = nil, sizeLimitBytes: Int = Self.sizeLimitBytes
  ) throws(PluginError) {
    let subject = PluginError.Subject.plugin(name: nil, path: name ?? path)
    realPath = try Self.resolve(SystemPath.of(path))
    // Without O_NONBLOCK, opening a FIFO would wait for a writer.
    guard let file = FileDescriptor(opening: realPath, O_RDONLY | O_NONBLOCK | O_NOFOLLOW) else {
      throw Self.openError(errno, subject)
    }
    guard let before = file.status() else { throw Self.openError(errno, subject) }
    try Self.requireRegularFile(before, subject, sizeLimitBytes)
    try LibraryPermissions.check(file: before, realPath: realPath, subject)
    // Reads one byte more than expected, to detect a file that grows.
    guard let content = PageBytes(reading: file, capacity: Int(before.st_size) + 1) else {
      throw Self.openError(errno, subject)
    }
    guard let after = file.status(), after.isUnchanged(since: before), content.count == Int(before.st_size) else {
      throw PluginError(
        .changedWhileRead, subject, "changed while it was read", advice: "try again when its build has ended")
    }
    guard let hash = content.withUnsafeBytes({ ContentHash(of: $0) }) else { throw ContentHash.unavailable(subject) }
    self.path = name ?? path
    self.content = content
    self.hash = hash
  }

  static func resolve(_ path: String) throws(PluginError) -> String {
    guard let resolved = realpath(path, nil) else {
      throw openError(errno, .plugin(name: nil, path: path))
    }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func requireRegularFile(
    _ status: stat, _ subject: PluginError.Subject, _ limit: Int
  ) throws(PluginError) {
    guard status.isRegularFile else {
      throw PluginError(
        .notRegularFile, subject, status.isDirectory ? "is a folder" : "is not a regular file",
        advice: "name the library's .so file")
    }
    guard status.st_size <= limit else {
      throw PluginError(
        .tooLarge, subject, "is \(status.st_size) bytes long, the limit is \(limit)",
        advice: "strip its debug information")
    }
  }

  private static func openError(_ number: CInt, _ subject: PluginError.Subject) -> PluginError {
    switch number {
    case ENOENT, ENOTDIR:
      PluginError(.notFound, subject, "there is no such file", advice: "check the key \"library\"")
    case EACCES, EPERM:
      PluginError(.unreadable, subject, "is not readable for this user", advice: "allow it with chmod")
    case ENXIO:
      PluginError(.notRegularFile, subject, "is not a regular file", advice: "name the library's .so file")
    default:
      PluginError(.unreadable, subject, "cannot be read: \(SystemError.text(number))")
    }
  }

  /// A copy of the bytes.
  package var bytes: [UInt8] { content.withUnsafeBytes { Array($0) } }
}
