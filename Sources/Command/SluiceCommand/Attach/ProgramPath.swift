import Glibc
import SluiceMessages
import SluiceSupport

/// The file of a program, looked up as execvp(3) does.
enum ProgramPath {
  /// - Parameter word: a path if it has a slash, otherwise a name to look for in the folders of `PATH`.
  /// - Returns: nil if there is no such executable file.
  static func find(_ word: [UInt8]) -> [UInt8]? {
    candidates(word).first(where: isExecutable)
  }

  /// The paths at which the program may be, in the order in which they are tried.
  private static func candidates(_ word: [UInt8]) -> [[UInt8]] {
    if word.contains(UInt8(ascii: "/")) { return [word] }
    let folders = getenv("PATH").map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    // An empty entry in `PATH` means the current folder.
    return (folders ?? Array("/bin:/usr/bin".utf8))
      .split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      .map { $0.isEmpty ? word : $0 + [UInt8(ascii: "/")] + word }
  }

  /// Looks up a word that a user typed. Throws an error with the status of a shell if there is no such program.
  static func found(_ word: String) throws(CommandError) -> String {
    if let found = find(Array(word.utf8)) { return String(decoding: found, as: UTF8.self) }
    guard word.contains("/") else {
      let exists =
        !word.isEmpty
        && candidates(Array(word.utf8)).contains { access($0.map { CChar(bitPattern: $0) } + [0], F_OK) == 0 }
      throw failure(word, exists ? EACCES : ENOENT)
    }
    if Paths.isFolder(word) { throw failure(word, EISDIR) }
    throw failure(word, access(word, X_OK) == 0 ? EACCES : errno)
  }

  /// An error with the status that shells use for a program that does not start: 127 or 126.
  static func failure(_ word: String, _ number: Int32) -> CommandError {
    CommandError(
      ExitStatus(code: number == ENOENT ? 127 : 126), "attach: \(PlainText.path(word)): \(reason(word, number))")
  }

  /// Why a program does not start.
  static func reason(_ word: String, _ number: Int32) -> String {
    number == ENOENT && !word.contains("/") ? "no such program on PATH" : SystemError.text(number)
  }

  private static func isExecutable(_ path: [UInt8]) -> Bool {
    let path = path.map { CChar(bitPattern: $0) } + [0]
    var status = stat()
    return !path.dropLast().isEmpty && access(path, X_OK) == 0 && stat(path, &status) == 0
      && status.st_mode & S_IFMT == S_IFREG
  }
}
