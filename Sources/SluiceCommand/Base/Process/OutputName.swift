import Glibc
import SluiceSupport

/// The name of the file for a response body, and what happens if a file of that name exists.
final class OutputName: Sendable {
  enum Existing: Sendable {
    case replace
    /// The output fails, and the existing file stays.
    case keep
    /// The new file gets a number: `NAME.1`, up to `NAME.100`.
    case number
    /// The body is appended to the file.
    case append
  }

  private struct State: Sendable {
    var path: String
    var existing: Existing
  }

  private let state: Locked<State>

  init(_ path: String, existing: Existing = .replace) { state = Locked(State(path: path, existing: existing)) }

  var path: String { state.withLock { $0.path } }
  var existing: Existing { state.withLock { $0.existing } }

  /// Changes the name, but keeps the folder.
  func rename(to name: String) {
    state.withLock { state in
      let folder = state.path.lastIndex(of: "/").map { String(state.path[...$0]) } ?? ""
      state.path = folder + name
    }
  }

  func set(existing: Existing) { state.withLock { $0.existing = existing } }

  /// Opens the file by the rule in ``existing``. Returns its descriptor; if that fails, returns -1 and sets `errno`.
  func open() -> Int32 {
    let (path, existing) = (path, existing)
    // O_NONBLOCK, because the path can have become that of a FIFO. It has no effect on a regular file.
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK
    switch existing {
    case .replace: return Glibc.open(path, flags, 0o666)
    case .append: return Glibc.open(path, flags | O_APPEND, 0o666)
    case .keep: return Glibc.open(path, flags | O_EXCL, 0o666)
    case .number:
      for number in 0...100 {
        let numbered = number == 0 ? path : "\(path).\(number)"
        let descriptor = Glibc.open(numbered, flags | O_EXCL, 0o666)
        guard descriptor < 0, errno == EEXIST else {
          state.withLock { $0.path = numbered }
          return descriptor
        }
      }
      return -1
    }
  }
}
