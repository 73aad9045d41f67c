import Glibc

/// The paths that this process passes to the system for the names of files that its user has given.
///
/// Code of plugins runs in the same process. It can change the current folder, and it shares descriptors 0 to 2. So the
/// command resolves relative names from the folder in which it was started, and reads its standard input from a private
/// descriptor. A program that uses the engine has its own current folder: there, names are passed on as they are.
package enum SystemPath {
  private struct Start: Sendable {
    /// The folder in which the process was started; nil if it is unknown.
    let folder: String?
    let input: CInt
  }

  private static let start = Locked<Start?>(nil)

  /// From now on, relative names are resolved from the current folder of this moment, and the names of standard input
  /// lead to this descriptor.
  package static func keepStart(standardInput: CInt) {
    let folder = getcwd(nil, 0)
    defer { free(folder) }
    let start = Start(folder: folder.map { String(cString: $0) }, input: standardInput)
    self.start.withLock { $0 = start }
  }

  /// Returns the path to open for a name.
  package static func of(_ name: String) -> String {
    guard name.utf8.first == UInt8(ascii: "/") else { return absolute(name) }
    guard isStandardInput(name), let input = start.withLock({ $0?.input }), input > STDERR_FILENO else { return name }
    return "/proc/self/fd/\(input)"
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
    guard let first = name.utf8.first, first != UInt8(ascii: "/"), let folder = getcwd(nil, 0) else { return name }
    defer { free(folder) }
    return join(String(cString: folder), name)
  }

  private static func join(_ folder: String, _ name: String) -> String {
    folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
  }

  /// Whether a path leads to the standard input of this process.
  package static func isStandardInput(_ path: String) -> Bool {
    path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0"
  }
}
