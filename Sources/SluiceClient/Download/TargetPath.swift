import Glibc

/// A path of a file, taken apart.
struct TargetPath: Equatable, Sendable {
  /// Without a slash at the end, except for `/` itself.
  let folder: String
  let name: String

  /// Nil for a path that ends with a slash, `.` or `..`, or contains NUL.
  init?(_ path: String) {
    guard !path.utf8.contains(0) else { return nil }
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    name = String(path[(slash.map { path.utf8.index(after: $0) } ?? path.startIndex)...])
    guard !name.isEmpty, name != ".", name != ".." else { return nil }
    guard let slash else {
      folder = "."
      return
    }
    folder = slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The path from the root, so that it holds after a change of the working folder; unchanged if that is unknown.
  static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let buffer = getcwd(nil, 0) else { return path }
    defer { free(buffer) }
    return String(cString: buffer) + "/" + path
  }
}
