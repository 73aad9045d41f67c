import Glibc
import SluiceMessages
import SluiceSupport

/// The files that plugins have given to the host with `SLUICE_FILE_REMOVE`. Each is removed when the last body that
/// refers to it is released.
package enum GivenFiles {
  private static let counts = Locked<[String: Int]>([:])

  /// Returns a body that removes the file when it is released, unless another body still refers to the file. Can be
  /// called from any thread.
  static func body(at path: String, byteCount: Int) -> FileBody {
    counts.withLock { $0[path, default: 0] += 1 }
    return FileBody(path: path, byteCount: byteCount) {
      counts.withLock { counts in
        // Without a count, `removeAll` has already removed the file.
        guard let count = counts[path] else { return }
        counts[path] = count > 1 ? count - 1 : nil
        // The file is removed with the lock held, so that no plugin can give the same file again at this moment.
        if count == 1 { unlink(path) }
      }
    }
  }

  /// Removes the remaining files, for a process that is about to end without releasing its bodies.
  package static func removeAll() {
    let paths = counts.withLock { counts in
      defer { counts = [:] }
      return Array(counts.keys)
    }
    for path in paths { unlink(path) }
  }
}
