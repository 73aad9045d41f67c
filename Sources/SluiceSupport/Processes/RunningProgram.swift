import Glibc

/// Finds the program that this process runs.
package enum RunningProgram {
  /// The path without symbolic links; nil if `/proc/self/exe` cannot be read. If an upgrade has replaced the file since
  /// the start, the path leads to the new file.
  package static func path() -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
      guard let start = buffer.baseAddress else { return nil }
      let count = readlink("/proc/self/exe", start, buffer.count)
      guard count > 0, count < buffer.count else { return nil }
      let path = String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
      // The mark that the kernel appends to the path of a deleted file.
      let mark = " (deleted)"
      return path.hasSuffix(mark) && access(path, F_OK) != 0 ? String(path.dropLast(mark.count)) : path
    }
  }
}
