import CLinux
import Glibc
import SluiceMessages
import SluiceSupport

/// Marks the output of a run as unfinished until the run has ended, so that a repeated command does not empty it.
///
/// The mark is an extended attribute of the output file (xattr(7)) that identifies the input. It survives the death of
/// the process. Without extended attributes, and for an input that is no file, there is no mark.
struct UnfinishedMark {
  private static let name = "user.sluice.unfinished"

  /// Nil if the output cannot be marked.
  private let path: String?
  private let input: String

  init(output path: String?, input: InputLines) {
    self.path = path.flatMap { path in
      StandardOutput.isNamed(by: path) || OutputTarget(at: path) != .file ? nil : SystemPath.of(path)
    }
    self.input = input.identity ?? ""
  }

  /// Throws if the output has results of an interrupted run of the same input, and would be emptied.
  func check() throws(CommandError) {
    guard let path, !input.isEmpty, let mark = value(path), mark == input else { return }
    // The mark can belong to a run that has not ended.
    if let file = FileDescriptor(opening: path, O_WRONLY | O_NONBLOCK) {
      try OutputLock.take(file.raw, PlainText.path(path))
    }
    throw CommandError(
      .usage,
      "run: \(PlainText.path(path)) has results of a run of the same input that was interrupted; give --resume to send"
        + " the lines that have no result, or remove the file to begin again")
  }

  func set() {
    guard let path, !input.isEmpty else { return }
    setxattr(path, Self.name, input, input.utf8.count, 0)
  }

  func remove() {
    if let path { removexattr(path, Self.name) }
  }

  private func value(_ path: String) -> String? {
    withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
      let count = getxattr(path, Self.name, buffer.baseAddress, buffer.count)
      return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
  }
}
