import Glibc

/// Finds the program that this process runs.
package enum RunningProgram {
  /// The path with which to start or read this program once more. `/proc/self/exe` leads to it even if its file was
  /// replaced after the start. Nil if the program is not found.
  package static var executable: String? {
    let link = "/proc/self/exe"
    return access(link, X_OK) == 0 ? link : started
  }

  /// The path without symbolic links with which the kernel started the program (getauxval(3)).
  private static let started: String? = {
    let executionName = UInt(31)
    typealias Look = @convention(c) (UInt) -> UInt
    guard let address = dlsym(nil, "getauxval") else { return nil }
    let look = unsafeBitCast(address, to: Look.self)
    guard let name = UnsafePointer<CChar>(bitPattern: look(executionName)),
      let resolved = realpath(SystemPath.of(String(cString: name)), nil)
    else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }()

  /// The path without symbolic links; nil if it is unknown. If an upgrade has replaced the file since
  /// the start, the path leads to the new file.
  package static func path() -> String? { linked ?? started }

  private static var linked: String? {
    guard let path = SymbolicLink.target("/proc/self/exe") else { return nil }
    // The mark that the kernel appends to the path of a deleted file.
    let mark = " (deleted)"
    return path.hasSuffix(mark) && access(path, F_OK) != 0 ? String(path.dropLast(mark.count)) : path
  }
}
