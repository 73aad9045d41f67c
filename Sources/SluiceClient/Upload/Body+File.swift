import Glibc
public import SluiceMessages
public import SluicePipeline
import SluiceSupport

extension Body {
  /// The content of a file, for a request. Only the size of the file is read now.
  ///
  /// - Throws: `body_file` if the path does not lead to a regular file.
  public static func file(at path: String) async throws(TransactionError) -> Body {
    let answer = try await FileThreads.run { () -> Result<Int, TransactionError> in
      var status = stat()
      guard stat(path, &status) == 0 else {
        return .failure(failure(path, SystemError.text(errno)))
      }
      guard status.isRegularFile else { return .failure(failure(path, "it is not a regular file")) }
      return .success(Int(status.st_size))
    }
    return .file(FileBody(path: path, byteCount: try answer.get()))
  }

  private static func failure(_ path: String, _ reason: String) -> TransactionError {
    TransactionError(code: .bodyFile, message: "cannot send \(path): \(reason)", isBeforeSending: true)
  }
}
