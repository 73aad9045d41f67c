import Glibc

/// Operations on whole folders and files.
package enum FileTree {
  /// Removes a file, or a folder with its contents. Does not follow symbolic links, and ignores a missing file.
  package static func remove(_ path: String) {
    if unlink(path) == 0 || errno == ENOENT { return }
    for name in names(in: path) { remove("\(path)/\(name)") }
    rmdir(path)
  }

  /// The entries of a folder, sorted, without `.` and `..`; empty when it cannot be read.
  package static func names(in folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Whether a file or folder exists. A symbolic link whose target does not exist counts as missing.
  package static func exists(_ path: String) -> Bool {
    access(path, F_OK) == 0
  }

  /// Reads the whole file.
  package static func read(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw TestKitError.system("open \(path)") }
    return try FileDescriptor(adopting: descriptor).readToEnd()
  }

  package static func readText(_ path: String) throws -> String {
    String(decoding: try read(path), as: UTF8.self)
  }

  /// Calls `body` with each line of a file, without its line end. Only one line is in memory at a time.
  package static func forEachLine(of path: String, _ body: ([UInt8]) throws -> Void) throws {
    guard let file = fopen(path, "re") else { throw TestKitError.system("open \(path)") }
    var (buffer, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
    defer {
      free(buffer)
      fclose(file)
    }
    while case let count = getline(&buffer, &capacity, file), count > 0 {
      let bytes = UnsafeRawBufferPointer(start: buffer, count: count)
      try body(Array(bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]))
    }
  }
}
