import Glibc

/// The file of a program, found as execvp(3) does.
enum ProgramPath {
  /// - Parameter word: a path if it has a slash, otherwise a name to look for in the folders of `PATH`.
  /// - Returns: nil if there is no such file that may be executed.
  static func find(_ word: [UInt8]) -> [UInt8]? {
    if word.contains(UInt8(ascii: "/")) { return isExecutable(word) ? word : nil }
    let folders = getenv("PATH").map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    // An empty entry is the current folder.
    return (folders ?? Array("/bin:/usr/bin".utf8))
      .split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      .map { $0.isEmpty ? word : $0 + [UInt8(ascii: "/")] + word }
      .first(where: isExecutable)
  }

  private static func isExecutable(_ path: [UInt8]) -> Bool {
    let path = path.map { CChar(bitPattern: $0) } + [0]
    var status = stat()
    return !path.dropLast().isEmpty && access(path, X_OK) == 0 && stat(path, &status) == 0
      && status.st_mode & S_IFMT == S_IFREG
  }
}
