public import SluicePipeline

/// Why a download failed, and the data for continuing it.
public struct DownloadFailure: Error, Sendable, CustomStringConvertible {
  /// The cause. The code is `disk_full` if there is no room for the file.
  public let error: TransactionError
  /// The data for ``Client/download(resumeFrom:headers:delegate:cancellation:)``. Nil if the server did not identify
  /// the file, or if nothing of it has arrived; no partial file is then left.
  public let resumeData: ResumeData?

  /// The text of ``error``.
  public var description: String { error.description }
}
