package import Glibc

/// The paths that this process passes to the system for the names of files that its user has given.
///
/// Code of plugins runs in the same process. It can change the current folder, and it shares descriptors 0 to 2. So the
/// command resolves relative names from the folder in which it was started, and has private descriptors for its standard
/// streams. A program that uses the engine has its own current folder: there, names are passed on as they are.
package enum SystemPath {
  /// The streams that have private descriptors.
  package enum Stream: Sendable {
    case input
    case output
    case errors
  }

  private struct Start: Sendable {
    /// The folder in which the process was started; nil if it is unknown.
    let folder: String?
    /// The device and the inode of the folder.
    let identity: (device: dev_t, inode: ino_t)?
    /// The private descriptors; negative if the stream was closed at the start.
    let input: CInt
    let output: CInt
    let errors: CInt
  }

  private static let start = Locked<Start?>(nil)

  /// From now on, relative names are resolved from the current folder of this moment, and the names of the standard
  /// streams lead to these descriptors. A negative descriptor stands for a stream that is closed.
  package static func keepStart(standardInput: CInt, standardOutput: CInt, standardError: CInt) {
    let start = Start(
      folder: currentFolder, identity: identity(of: "."), input: standardInput, output: standardOutput,
      errors: standardError)
    self.start.withLock { $0 = start }
  }

  /// Goes back to the folder of the start, and returns the folder in which the process was. Returns nil if it was
  /// there, or if there is no way back.
  static func returnToStart() -> String? {
    guard let start = start.withLock({ $0 }), let folder = start.folder, let there = start.identity else { return nil }
    if let here = identity(of: "."), here == there { return nil }
    let left = currentFolder ?? "a folder that was removed"
    guard let found = identity(of: folder), found == there, chdir(folder) == 0 else { return nil }
    return left
  }

  private static var currentFolder: String? {
    guard let folder = getcwd(nil, 0) else { return nil }
    defer { free(folder) }
    return String(cString: folder)
  }

  private static func identity(of folder: String) -> (device: dev_t, inode: ino_t)? {
    var status = stat()
    return stat(folder, &status) == 0 ? (status.st_dev, status.st_ino) : nil
  }

  /// Returns the path to open for a name. No file has the path of a closed stream.
  package static func of(_ name: String) -> String {
    descriptor(of: name).map { "/proc/self/fd/\($0)" } ?? absolute(name)
  }

  /// Opens the file of a name. Without `/proc`, a stream cannot be opened a second time: the descriptor is then a copy
  /// of the stream's, which shares its position and its flags. Returns -1 with `errno` set if that fails, with `EBADF`
  /// for a closed stream.
  package static func open(_ name: String, _ flags: CInt, mode: mode_t = 0) -> CInt {
    guard let descriptor = descriptor(of: name) else { return Glibc.open(absolute(name), flags, mode) }
    guard descriptor >= 0 else {
      errno = EBADF
      return -1
    }
    let opened = Glibc.open("/proc/self/fd/\(descriptor)", flags, mode)
    guard opened < 0, errno == ENOENT else { return opened }
    return fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
  }

  /// Examines the file of a name, through any links; nil, with `errno` set, if that fails. Needs no `/proc`.
  package static func status(of name: String) -> stat? {
    var status = stat()
    let result = descriptor(of: name).map { fstat($0, &status) } ?? stat(absolute(name), &status)
    return result == 0 ? status : nil
  }

  /// The private descriptor of the stream that a name leads to; nil for any other file.
  private static func descriptor(of name: String) -> CInt? {
    guard let start = start.withLock({ $0 }), let stream = stream(of: name) else { return nil }
    return switch stream {
    case .input: start.input
    case .output: start.output
    case .errors: start.errors
    }
  }

  /// The stream that a name leads to, whatever its spelling and through any links: `/dev/stdout`, `/proc/self/fd/1`,
  /// or a link to one of them. Nil for any other file.
  package static func stream(of name: String) -> Stream? {
    if let stream = known(name) { return stream }
    var status = stat()
    guard let end = OutputTarget.following(name) else { return nil }
    if let stream = known(end) { return stream }
    guard lstat(end, &status) == 0, OutputTarget(status) == .link,
      let folder = resolved(OutputTarget.folder(of: end)), let process = resolved("/proc/self"),
      folder == "\(process)/fd" || folder.hasPrefix("\(process)/task/") && folder.hasSuffix("/fd")
    else { return nil }
    switch end.utf8.suffix(2) {
    case let end where end.elementsEqual("/0".utf8): return .input
    case let end where end.elementsEqual("/1".utf8): return .output
    case let end where end.elementsEqual("/2".utf8): return .errors
    default: return nil
    }
  }

  /// The streams by the names that are known without `/proc` too.
  private static func known(_ name: String) -> Stream? {
    switch name {
    case "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0": .input
    case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1": .output
    case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2": .errors
    default: nil
    }
  }

  private static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Makes a relative name absolute; the names of the standard streams stay.
  package static func absolute(_ name: String) -> String {
    guard let first = name.utf8.first, first != UInt8(ascii: "/"), let folder = start.withLock({ $0?.folder }) else {
      return name
    }
    return join(folder, name)
  }

  /// Makes a relative name absolute; it need not be UTF-8.
  package static func absolute(_ name: [UInt8]) -> [UInt8] {
    guard let first = name.first, first != UInt8(ascii: "/"), let folder = start.withLock({ $0?.folder }) else {
      return name
    }
    return Array(join(folder, "").utf8) + name
  }

  /// Makes a relative name absolute from the current folder of this moment. A plugin uses this when it is created.
  package static func fromCurrentFolder(_ name: String) -> String {
    guard let first = name.utf8.first, first != UInt8(ascii: "/"), let folder = currentFolder else { return name }
    return join(folder, name)
  }

  private static func join(_ folder: String, _ name: String) -> String {
    folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
  }
}
