import Glibc
import SluicePluginHost

/// A folder of this user's own for the files that an engine is started from; removed at the end of its life.
final class SourceFolder {
  let path: String

  init() throws(CommandError) {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/sluice-dev-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CommandError(.failed, "cannot make a folder in \(base): \(String(cString: strerror(errno)))")
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    clear(FolderListing.names(in: path).map { "\(path)/\($0)" })
    rmdir(path)
  }

  /// Where the engine's process with that number leaves the record of a crash.
  func crashRecord(_ number: Int) -> String { "\(path)/crash-\(number)" }

  /// Gives the path of the file.
  func write(_ bytes: [UInt8], as name: String) throws(CommandError) -> String {
    let file = "\(path)/\(name)"
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o700)
    guard descriptor >= 0 else {
      throw CommandError(.failed, "cannot write \(file): \(String(cString: strerror(errno)))")
    }
    let output = try ByteOutput(owning: descriptor, name: file)
    output.append(bytes)
    if let failure = output.finish() { throw CommandError(.failed, failure.description) }
    return file
  }

  func clear(_ files: some Sequence<String>) {
    for file in files { unlink(file) }
  }
}
