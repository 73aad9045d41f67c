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
    var path: [UInt8]
    var existing: Existing
  }

  private let state: Locked<State>

  init(_ path: String, existing: Existing = .replace) {
    state = Locked(State(path: Array(path.utf8), existing: existing))
  }

  /// The path. It need not be UTF-8 if the server has chosen the name.
  var bytes: [UInt8] { state.withLock { $0.path } }
  /// The path as text, with U+FFFD for bytes that are not UTF-8.
  var path: String { String(decoding: bytes, as: UTF8.self) }
  var existing: Existing { state.withLock { $0.existing } }

  /// Changes the name, but keeps the folder.
  func rename(to name: [UInt8]) {
    state.withLock { state in
      let folder = state.path.lastIndex(of: UInt8(ascii: "/")).map { state.path[...$0] } ?? []
      state.path = folder + name
    }
  }

  func set(existing: Existing) { state.withLock { $0.existing = existing } }

  /// Opens the file by the rule in ``existing``. Returns its descriptor; if that fails, returns -1 and sets `errno`.
  func open() -> Int32 {
    let (path, existing) = (bytes, existing)
    // O_NONBLOCK, because the path can have become that of a FIFO. It has no effect on a regular file.
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK
    switch existing {
    case .replace: return Self.open(path, flags)
    case .append: return Self.open(path, flags | O_APPEND)
    case .keep: return Self.open(path, flags | O_EXCL)
    case .number:
      for number in 0...100 {
        let numbered = number == 0 ? path : path + ".\(number)".utf8
        let descriptor = Self.open(numbered, flags | O_EXCL)
        guard descriptor < 0, errno == EEXIST else {
          state.withLock { $0.path = numbered }
          return descriptor
        }
      }
      return -1
    }
  }

  private static func open(_ path: [UInt8], _ flags: Int32) -> Int32 { Glibc.open(path.systemPath, flags, 0o666) }

  /// Removes the file, unless the name now belongs to another file.
  func remove(_ identity: FileIdentity) {
    let path = bytes.systemPath
    if FileIdentity(atPath: path) == identity { unlink(path) }
  }
}

extension [UInt8] {
  /// The path for the system, as a text of C.
  fileprivate var systemPath: [CChar] { SystemPath.absolute(self).map { CChar(bitPattern: $0) } + [0] }
}
