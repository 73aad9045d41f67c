public import Sluice
public import SluiceMessages
import SluicePipeline
import SluiceSupport

// Responses that become files.
extension Client {
  /// Gets a URL into a file. See ``download(for:to:delegate:cancellation:)``.
  public func download(
    from url: HTTPURL, to path: String, delegate: (any TransactionDelegate)? = nil, cancellation: Cancellation? = nil
  ) async throws(DownloadFailure) -> Response {
    try await download(for: Request(url: url), to: path, delegate: delegate, cancellation: cancellation)
  }

  /// Sends a request, and writes the body of its response to a file.
  ///
  /// The file is complete, or it does not exist. The body goes to a hidden file in the folder of the target, with the
  /// mode 0600. When all of it is on disk, the file gets the name of the target and replaces a file of that name. The
  /// file keeps its mode. A symbolic link is followed: the file behind it is replaced, and the link stays. No loop waits
  /// for the disk.
  ///
  /// A pipe or a device is never replaced: the body is written to it while it arrives, and the download cannot be
  /// resumed. A FIFO must get a reader within 30 seconds, or within the timeout of the request if that is shorter;
  /// otherwise the call fails with `body_file`, and nothing is sent. A folder or a socket is refused.
  ///
  /// Unless the caller sets `Accept-Encoding`, no content coding is requested, so that the download can be resumed.
  /// - Parameters:
  ///   - path: the file; its folder must exist. A relative path starts from the working folder at the time of the call.
  ///   - delegate: asked before the delegates of the client and the engine; retained until the download has ended.
  ///   - cancellation: ends the download from any thread; use one for each call.
  /// - Returns: the response without its body.
  /// - Throws: why there is no file, and what is needed to resume. A status other than 2xx fails with `http_status`,
  ///   and a 206 that was not requested fails with `invalid_response`. A full disk fails with `disk_full`. A failure
  ///   leaves no hidden file except the file that its ``DownloadFailure/resumeData`` names; a process that is killed
  ///   can leave one.
  public func download(
    for request: Request, to path: String, delegate: (any TransactionDelegate)? = nil,
    cancellation: Cancellation? = nil
  ) async throws(DownloadFailure) -> Response {
    let patience = min(Self.readerPatience, request.timeout ?? Self.readerPatience)
    let file = try await Self.file { () async throws(TransactionError) in
      try await DownloadTargets.open(path, patience: patience) { cancellation?.isCancelled ?? false }
    }
    var download = Download(self, request, file, delegate, cancellation)
    return try await download.run()
  }

  /// Gets a URL into a new file in the folder for temporary files (`TMPDIR`), which the caller moves or deletes.
  ///
  /// - Returns: the path of the file, and the response without its body.
  public func download(
    from url: HTTPURL, delegate: (any TransactionDelegate)? = nil, cancellation: Cancellation? = nil
  ) async throws(DownloadFailure) -> (path: String, response: Response) {
    try await download(for: Request(url: url), delegate: delegate, cancellation: cancellation)
  }

  /// Sends a request, and writes the body of its response into a new file in the folder for temporary files (`TMPDIR`),
  /// which the caller moves or deletes. Otherwise like ``download(for:to:delegate:cancellation:)``.
  ///
  /// - Returns: the path of the file, and the response without its body.
  public func download(
    for request: Request, delegate: (any TransactionDelegate)? = nil, cancellation: Cancellation? = nil
  ) async throws(DownloadFailure) -> (path: String, response: Response) {
    let name = "sluice-download-\(TemporaryFiles.randomName)"
    let path = "\(TemporaryFiles.folder)/\(name)"
    return (path, try await download(for: request, to: path, delegate: delegate, cancellation: cancellation))
  }

  /// Continues a failed download, into the same target.
  ///
  /// The server is asked for the rest on the condition that its file is still the same (`Range` with `If-Range`, RFC
  /// 9110 §13.1.5). If the file has changed, or the answer does not fit, the whole file is downloaded again. A part is
  /// never taken for the whole file.
  /// - Parameters:
  ///   - data: can be used for only one call, which takes over the partial file, and gives new data if it fails too.
  ///   - headers: the headers of the original request, for instance its `Authorization`; the data does not contain
  ///     them.
  /// - Throws: the same errors as a new download; `body_file` if the partial file is not the file that the download
  ///   left.
  public func download(
    resumeFrom data: ResumeData, headers: HeaderFields = HeaderFields(), delegate: (any TransactionDelegate)? = nil,
    cancellation: Cancellation? = nil
  ) async throws(DownloadFailure) -> Response {
    let file = try await Self.file { () async throws(TransactionError) in
      try await FileThreads.run { PartialFile.reopen(data) }.get()
    }
    var download = Download(self, Request(url: data.url, headers: headers), file, delegate, cancellation)
    download.offset = data.offset
    download.totalBytes = data.totalBytes
    download.validator = data.validator
    return try await download.run()
  }

  /// How long the FIFO of a download may have no reader.
  private static let readerPatience = Duration.seconds(30)

  private static func file<File>(
    _ open: () async throws(TransactionError) -> File
  ) async throws(DownloadFailure) -> File {
    do throws(TransactionError) { return try await open() } catch {
      throw DownloadFailure(error: error, resumeData: nil)
    }
  }
}
