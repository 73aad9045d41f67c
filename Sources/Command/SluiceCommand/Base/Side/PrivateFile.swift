import Glibc
import SluiceMessages
import SluiceSupport

/// Opens a file for content that can hold secrets. Only its owner can read the file.
enum PrivateFile {
  /// Creates the file, or empties it. Returns a descriptor, which the caller must close.
  ///
  /// A symbolic link is not followed, and a file of another user is refused. In a folder that others can write to,
  /// somebody could have created such a link or file to get the content.
  /// - Parameters:
  ///   - option: the option that names the file, with its dashes.
  ///   - input: the file that is being read, and that must not be written.
  ///   - arguments: the parsed arguments of the command, which name its other output files.
  static func open(
    _ path: String, _ option: String, besides input: FileIdentity?, _ arguments: ParsedArguments
  ) throws(CommandError) -> Int32 {
    guard !path.isEmpty, !StandardOutput.isNamed(by: path) else {
      throw CommandError(.usage, "\(option): expected the name of a file, found \(PlainText.quote(path))")
    }
    try check(path, option, isNot: arguments)
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let descriptor = Glibc.open(SystemPath.of(path), flags, 0o600)
    guard descriptor >= 0 else { throw unopened(path, option, errno) }
    do throws(CommandError) {
      try check(descriptor, path, option, besides: input)
      // Two names can lead to the same new file. This is known only after the file exists.
      try check(path, option, isNot: arguments)
      try OutputLock.take(descriptor, PlainText.path(path))
      guard fchmod(descriptor, 0o600) == 0, ftruncate(descriptor, 0) == 0 else {
        throw unopened(path, option, errno)
      }
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func unopened(_ path: String, _ option: String, _ errorNumber: Int32) -> CommandError {
    let reason =
      switch errorNumber {
      case ELOOP: "it is a symbolic link, which is not followed; name the file itself"
      case EISDIR: "it is a folder; name a file"
      case ENXIO: notRegular
      default: String(cString: strerror(errorNumber))
      }
    return CommandError(.failed, "\(option): cannot write \(PlainText.path(path)): \(reason)")
  }

  private static let notRegular = "it is not a regular file; name a file"

  private static func check(
    _ descriptor: Int32, _ path: String, _ option: String, besides input: FileIdentity?
  ) throws(CommandError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, let identity = FileIdentity(of: descriptor) else {
      throw CommandError(.failed, "\(option): cannot write \(PlainText.path(path)): \(notRegular)")
    }
    guard status.st_uid == geteuid() else {
      throw CommandError(
        .failed, "\(option): cannot write \(PlainText.path(path)): it belongs to another user; name another file")
    }
    guard identity != input else {
      throw CommandError(.usage, "\(option): \(PlainText.path(path)) is also the input; name another file")
    }
  }

  /// The options that must name different files.
  private static let outputs = ["output", "events", "har", "record", "dump-header", "cookie-jar"]

  private static func check(
    _ path: String, _ option: String, isNot arguments: ParsedArguments
  ) throws(CommandError) {
    for name in outputs where "--\(name)" != option {
      for other in arguments.all(name) where !StandardOutput.isNamed(by: other) {
        let isSame = path == other || FileIdentity(at: path).map { $0 == FileIdentity(at: other) } ?? false
        guard isSame else { continue }
        throw CommandError(
          .usage, "\(option): \(PlainText.path(path)) is also the file of --\(name); name another file")
      }
    }
  }
}
