public import SluiceMessages
public import SluicePipeline
import SluiceSupport

extension Body {
  /// The content of a file, for a request. Only the size of the file is read now. A file whose size the system does not
  /// know, as in `/proc`, is read completely, up to 64 MiB.
  ///
  /// - Throws: `body_file` if the path does not lead to a regular file.
  public static func file(at path: String) async throws(TransactionError) -> Body {
    let source = try await FileThreads.run { () -> Result<UploadSource, TransactionError> in
      do throws(UploadSource.Failure) { return .success(try UploadSource(at: path)) } catch {
        return .failure(
          TransactionError(
            code: .bodyFile, message: "cannot send \(PlainText.path(path)): \(error.text)", isBeforeSending: true))
      }
    }.get()
    switch source {
    case .file(let byteCount): return .file(FileBody(path: path, byteCount: byteCount))
    case .content(let bytes): return .bytes(bytes)
    }
  }
}
