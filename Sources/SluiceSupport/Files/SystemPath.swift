import Glibc

/// The paths that this process passes to the system for the names of files that its user has given.
///
/// Code of plugins runs in the same process. It can change the current folder, and it shares descriptors 0 to 2. So the
/// command resolves relative names from the folder in which it was started, and uses private descriptors for its standard
/// input and standard error. A program that uses the engine has its own current folder: there, names are passed on as they are.
package enum SystemPath {
  private struct Start: Sendable {
    /// The folder in which the process was started; nil if it is unknown.
    let folder: String?
    /// The device and the inode of the folder.
    let identity: (device: dev_t, inode: ino_t)?
    let input: CInt
    let errors: CInt
  }

  private static let start = Locked<Start?>(nil)

  /// From now on, relative names are resolved from the current folder of this moment, and the names of standard input
  /// and standard error lead to these descriptors.
  package static func keepStart(standardInput: CInt, standardError: CInt) {
    let start = Start(
      folder: currentFolder, identity: identity(of: "."), input: standardInput, errors: standardError)
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

  /// Returns the path to open for a name.
  package static func of(_ name: String) -> String {
    guard name.utf8.first == UInt8(ascii: "/") else { return absolute(name) }
    guard isStandardInput(name) || isStandardError(name), let start = start.withLock({ $0 }) else { return name }
    let descriptor = isStandardInput(name) ? start.input : start.errors
    return descriptor > STDERR_FILENO ? "/proc/self/fd/\(descriptor)" : name
  }

  /// Makes a relative name absolute; the names of standard input stay.
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

  /// Whether a path leads to the standard input of this process.
  package static func isStandardInput(_ path: String) -> Bool {
    path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0"
  }

  private static func isStandardError(_ path: String) -> Bool {
    path == "/dev/stderr" || path == "/dev/fd/2" || path == "/proc/self/fd/2"
  }
}
