public import SluicePipeline

/// Why a download failed, and how to go on.
public struct DownloadFailure: Error, Sendable, CustomStringConvertible {
  /// The cause. `disk_full` if the file has no room.
  public let error: TransactionError
  /// What ``Client/download(resumeFrom:headers:delegate:cancellation:)`` needs to continue. Nil if the server did not say
  /// which file it is, or if nothing of it has arrived; then nothing is left behind.
  public let resumeData: ResumeData?

  /// The text of ``error``.
  public var description: String { error.description }
}
