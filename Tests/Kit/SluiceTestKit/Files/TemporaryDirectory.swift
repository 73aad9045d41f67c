import Glibc
import SluiceSupport

/// A folder for one test (mode 0700). It is removed with its contents when this object is released.
package final class TemporaryDirectory: Sendable {
  /// The absolute path of the folder, without a slash at the end.
  package let path: String

  package init() throws {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/sluice-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw TestKitError.system("mkdtemp in \(base)") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { FileTree.remove(path) }

  /// The path of an entry of the folder. The entry need not exist.
  package func path(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file, replaces any existing file, and returns its path.
  @discardableResult
  package func write(_ text: String, to name: String) throws -> String {
    try write(Array(text.utf8), to: name)
  }

  @discardableResult
  package func write(_ bytes: [UInt8], to name: String) throws -> String {
    let file = try FileDescriptor.create(path(name))
    try file.write(bytes)
    return path(name)
  }

  /// A file of zeros that takes no room on the disk.
  @discardableResult
  package func writeSparse(byteCount: Int, to name: String) throws -> String {
    let file = try FileDescriptor.create(path(name))
    guard ftruncate(file.number, byteCount) == 0 else { throw TestKitError.system("ftruncate \(path(name))") }
    return path(name)
  }

  @discardableResult
  package func makeFolder(_ name: String, mode: UInt32 = 0o700) throws -> String {
    guard mkdir(path(name), mode) == 0 else { throw TestKitError.system("mkdir \(path(name))") }
    return path(name)
  }
}

extension TemporaryDirectory {
  private static let lasting = Locked<[TemporaryDirectory]>([])

  /// A folder that exists until the process exits, for files that all tests of a process share.
  package static func lastingForProcess() throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    let isFirst = lasting.withLock { lasting in
      lasting.append(directory)
      return lasting.count == 1
    }
    if isFirst {
      atexit { TemporaryDirectory.lasting.withLock { $0.removeAll() } }
    }
    return directory
  }
}
