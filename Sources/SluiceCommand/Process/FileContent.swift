import Glibc
import SluiceMessages

/// Whole files.
enum FileContent {
  static func read(_ path: String) throws(CommandError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandError(.failed, "cannot read \(path): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    return try Descriptors.readAll(descriptor, name: path)
  }

  /// The whole body, and nothing that was added to its file since.
  static func read(_ body: FileBody) throws(CommandError) -> [UInt8] {
    let content = try read(body.path)
    guard content.count >= body.byteCount else {
      throw CommandError(
        .failed,
        "the body in \(body.path) has \(content.count) of its \(body.byteCount) bytes: something has cut the file"
          + " short")
    }
    return content.count == body.byteCount ? content : Array(content.prefix(body.byteCount))
  }
}
