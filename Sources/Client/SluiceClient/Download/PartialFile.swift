import Glibc
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The hidden file to which a download is written, in the folder of its target. Only its owner can read it (0600). It
/// gets the name of the target when it is complete.
///
/// Every function that is not asynchronous blocks until the disk has answered, and must be called on ``FileThreads``.
final class PartialFile: Sendable {
  typealias Outcome = Result<Void, TransactionError>

  /// The path of the target.
  let target: String
  private let folderPath: String
  private let targetName: String
  private let name: String
  private let folder: FileDescriptor
  private let file: FileDescriptor

  /// The path of the file.
  var path: String { folderPath == "/" ? "/\(name)" : "\(folderPath)/\(name)" }

  private init(
    _ target: String, _ path: TargetPath, _ name: String, folder: consuming FileDescriptor,
    file: consuming FileDescriptor
  ) {
    self.target = target
    folderPath = path.folder
    targetName = path.name
    self.name = name
    self.folder = folder
    self.file = file
  }

  /// For tests with a file that cannot be written, such as `/dev/full`.
  init(testing file: consuming FileDescriptor, folder: consuming FileDescriptor, target: String) {
    self.target = target
    (folderPath, targetName, name) = ("/", "x", "y")
    self.folder = folder
    self.file = file
  }

  static func isName(_ name: String) -> Bool { name.hasPrefix(".sluice-") && name.hasSuffix(".part") }

  // MARK: Opening

  /// Creates the file, under a name that nobody can predict, without following a link.
  static func create(for target: String) -> Result<PartialFile, TransactionError> {
    open(for: target, failing: "create a file beside", target) { folder, _ in
      let name = ".sluice-\(TemporaryFiles.randomName).part"
      let file = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      return (name, file)
    }
  }

  /// Opens the file of an earlier download, and truncates it to the length in the data for resuming.
  ///
  /// Fails if it is not the file that the download left: if it is a link, belongs to another user, can be accessed by
  /// others, or is too short.
  static func reopen(_ data: ResumeData) -> Result<PartialFile, TransactionError> {
    guard let partial = TargetPath(data.partialFile) else { return .failure(noFile(data.target)) }
    return open(for: data.target, failing: "resume from", data.partialFile) { folder, _ in
      (partial.name, openat(folder, partial.name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0))
    }.flatMap { file in file.check(data.offset).map { file } }
  }

  /// - Parameters:
  ///   - action: the first part of the error if the file cannot be opened: "cannot ACTION SUBJECT".
  private static func open(
    for target: String, failing action: String, _ subject: String, _ open: (CInt, TargetPath) -> (String, CInt)
  ) -> Result<PartialFile, TransactionError> {
    let target = TargetPath.absolute(target)
    guard let path = TargetPath(target) else { return .failure(noFile(target)) }
    guard let folder = FileDescriptor(opening: path.folder, O_RDONLY | O_DIRECTORY) else {
      return .failure(failure("open the folder of", target, errno))
    }
    let (name, file) = open(folder.raw, path)
    guard file >= 0 else { return .failure(failure(action, subject, errno)) }
    return .success(PartialFile(target, path, name, folder: folder, file: FileDescriptor(owning: file)))
  }

  private func check(_ offset: Int) -> Outcome {
    guard let status = file.status() else { return .failure(failure("examine", errno)) }
    guard status.isRegularFile, status.st_uid == geteuid(), status.st_mode & 0o077 == 0, status.st_nlink == 1,
      Int(status.st_size) >= offset
    else {
      return .failure(
        TransactionError(
          code: .bodyFile,
          message: "\(PlainText.path(path)) is not the file that the download left: delete it, and begin again",
          isBeforeSending: true))
    }
    return truncate(to: offset)
  }

  // MARK: Writing

  /// Writes the pieces one after the other, from `offset` on.
  func write(_ pieces: [[UInt8]], at offset: Int) -> Outcome {
    var offset = offset
    for piece in pieces {
      var written = 0
      while written < piece.count {
        let count = piece.withUnsafeBytes {
          pwrite(file.raw, $0.baseAddress?.advanced(by: written), $0.count - written, off_t(offset + written))
        }
        if count < 0, errno == EINTR { continue }
        // If nothing could be written, the disk counts as full.
        guard count > 0 else { return .failure(failure("write", count == 0 ? ENOSPC : errno)) }
        written += count
      }
      offset += piece.count
    }
    return .success(())
  }

  func truncate(to offset: Int) -> Outcome {
    ftruncate(file.raw, off_t(offset)) == 0 ? .success(()) : .failure(failure("cut", errno))
  }

  /// Waits until everything is on disk.
  func sync() -> Outcome { fsync(file.raw) == 0 ? .success(()) : .failure(failure("sync", errno)) }

  /// Gives the complete file the name of the target, and replaces a file of that name. A link there is replaced and not
  /// followed. A crash leaves either the earlier file or the complete file.
  func finish() -> Outcome {
    sync().flatMap {
      guard hasName else { return .failure(Self.moved(path)) }
      var status = stat()
      let isThere = fstatat(folder.raw, targetName, &status, AT_SYMLINK_NOFOLLOW) == 0
      // The target can have become a device since the download began. Nothing may replace a device.
      if isThere, ![.file, .link].contains(OutputTarget(status)) {
        return .failure(Self.unfit(target, OutputTarget(status)))
      }
      guard renameat(folder.raw, name, folder.raw, targetName) == 0 else { return .failure(failure("rename", errno)) }
      // This syncs the new name too. A failure is ignored, because the file already has its name.
      fsync(folder.raw)
      return .success(())
    }
  }

  private func delete() { unlinkat(folder.raw, name, 0) }

  /// Whether the path still leads to this file. Somebody can have removed or replaced it, or moved its folder.
  private var hasName: Bool {
    var status = stat()
    guard let own = file.status(), lstat(path, &status) == 0 else { return false }
    return own.st_dev == status.st_dev && own.st_ino == status.st_ino
  }

  // MARK: Errors

  private func failure(_ verb: String, _ number: CInt) -> TransactionError {
    Self.failure("\(verb) the file for", target, number)
  }

  static func failure(_ verb: String, _ target: String, _ number: CInt) -> TransactionError {
    let isFull = [ENOSPC, EDQUOT, EFBIG].contains(number)
    return TransactionError(
      code: isFull ? .diskFull : .bodyFile,
      message:
        "cannot \(verb) \(PlainText.path(target)): \(SystemError.text(number))\(isFull ? "; free some space there" : "")"
    )
  }

  static func noFile(_ target: String) -> TransactionError {
    TransactionError(
      code: .bodyFile, message: "\(target.isEmpty ? "an empty path" : target) does not name a file",
      isBeforeSending: true
    )
  }

  /// The target is not a file that can be replaced.
  static func unfit(_ target: String, _ kind: OutputTarget) -> TransactionError {
    let words =
      switch kind {
      case .folder: "a folder"
      case .socket: "a socket"
      case .stream: "a pipe or a device, and was none when the download began"
      case .file, .link: "not a regular file"
      }
    return TransactionError(
      code: .bodyFile, message: "cannot write \(PlainText.path(target)): it is \(words); name a file")
  }

  private static func moved(_ path: String) -> TransactionError {
    TransactionError(
      code: .bodyFile,
      message: "\(PlainText.path(path)) was removed, moved or replaced while it was written; the download is lost")
  }
}

extension PartialFile: DownloadTarget {
  var partialPath: String? { path }

  func write(
    _ pieces: [[UInt8]], at offset: Int, failure: () -> TransactionError?
  ) async throws(TransactionError) {
    try await FileThreads.run { self.write(pieces, at: offset) }.get()
  }

  func startOver() async throws(TransactionError) { try await FileThreads.run { self.truncate(to: 0) }.get() }

  func finish() async throws(TransactionError) { try await FileThreads.run { self.finish() }.get() }

  func keep(_ offset: Int) async -> Bool {
    let kept = try? await FileThreads.run { () -> Bool in
      guard self.hasName, case .success = self.truncate(to: offset).flatMap({ self.sync() }) else { return false }
      return true
    }
    return kept == true
  }

  func remove() async { _ = try? await FileThreads.run { self.delete() } }
}
