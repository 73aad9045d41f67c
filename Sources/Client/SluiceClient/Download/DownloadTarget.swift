import Glibc
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// What a download is written to.
protocol DownloadTarget: Sendable {
  /// The path of the target.
  var target: String { get }
  /// The path of the file with the part that has arrived; nil if a part cannot be continued.
  var partialPath: String? { get }

  /// Writes the pieces one after the other.
  /// - Parameters:
  ///   - offset: where the first piece belongs in the file.
  ///   - failure: returns the error of the transfer. Called while the target takes no bytes.
  func write(
    _ pieces: [[UInt8]], at offset: Int, failure: () -> TransactionError?
  ) async throws(TransactionError)
  /// Removes what was written.
  func startOver() async throws(TransactionError)
  /// Called when the target is complete.
  func finish() async throws(TransactionError)
  /// Keeps the first bytes on disk for a later download, and nothing else. Returns false if that fails.
  func keep(_ offset: Int) async -> Bool
  func remove() async
}

/// Opens the targets of downloads.
enum DownloadTargets {
  /// A pipe or a device is written where it is. Everything else gets a ``PartialFile``.
  ///
  /// - Parameter patience: how long a FIFO may have no reader.
  static func open(
    _ path: String, patience: Duration, isCancelled: () -> Bool
  ) async throws(TransactionError) -> any DownloadTarget {
    let path = TargetPath.absolute(path)
    let end = try await FileThreads.run { () -> Result<(path: String, kind: OutputTarget), TransactionError> in
      guard TargetPath(path) != nil else { return .failure(PartialFile.noFile(path)) }
      guard let end = OutputTarget.following(path) else {
        return .failure(PartialFile.failure("follow the symbolic link", path, errno))
      }
      return .success((end, OutputTarget.isInProc(end) ? .stream : OutputTarget(at: end)))
    }.get()
    switch end.kind {
    case .stream: return try await StreamTarget.open(end.path, patience: patience, isCancelled: isCancelled)
    case .file: return try await FileThreads.run { PartialFile.create(for: end.path) }.get()
    case .folder, .socket, .link: throw PartialFile.unfit(end.path, end.kind)
    }
  }
}
