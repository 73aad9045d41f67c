import Glibc

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
}
