public import SluiceMessages
public import SluicePipeline

/// Why a download failed, and the data for continuing it.
public struct DownloadFailure: DescribedError, Sendable {
  /// The cause. The code is `disk_full` if there is no room for the file.
  public let error: TransactionError
  /// The data for ``Client/download(resumeFrom:headers:delegate:cancellation:)``. Nil if the server did not identify
  /// the file, if nothing of it has arrived, or if the partial file is no longer there; no partial file is then left.
  public let resumeData: ResumeData?

  /// The text of ``error``.
  public var description: String { error.description }
}
