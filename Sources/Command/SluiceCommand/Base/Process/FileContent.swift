import Glibc
import Sluice
import SluiceAssembly
import SluiceMessages

/// Whole files.
enum FileContent {
  /// - Throws: an error if the file cannot be read, or if a pipe delivers no data in time.
  static func read(_ path: String) throws(CommandError) -> [UInt8] {
    do { return try FileText.read(path) } catch {
      throw CommandError(
        error.number == EISDIR ? .usage : .failed, "cannot read \(PlainText.path(path)): \(error)")
    }
  }

  /// The whole body, without bytes that were added to its file later.
  static func read(_ body: FileBody) throws(CommandError) -> [UInt8] {
    let content = try read(body.path)
    guard content.count >= body.byteCount else {
      throw CommandError(
        .failed,
        "the body in \(body.path) has \(content.count) of its \(body.byteCount) bytes: the file was cut short"
          + " short")
    }
    return content.count == body.byteCount ? content : Array(content.prefix(body.byteCount))
  }
}
