import Glibc
import SluiceSupport

/// Functions on the paths of files.
enum Paths {
  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  /// The absolute path without symbolic links; nil if nothing exists at the path.
  static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(SystemPath.of(path), nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// The absolute path, starting from the folder in which the command was started; symbolic links are kept.
  static func absolute(_ path: String) -> String { SystemPath.fromCurrentFolder(SystemPath.absolute(path)) }

  /// Creates a folder that only the user can access. The folder's name begins with `beginning`. Returns nil and sets
  /// `errno` if that fails.
  static func makeFolder(_ beginning: String) -> String? {
    var template = Array("\(beginning)XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { return nil }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(SystemPath.of(path), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
