import SluiceSupport

/// The path of a file, split into folder and name.
struct TargetPath: Equatable, Sendable {
  /// The folder without a slash at its end, unless it is `/`.
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

  /// The absolute path, which stays valid if the working folder changes; unchanged if the working folder is unknown.
  static func absolute(_ path: String) -> String { SystemPath.fromCurrentFolder(path) }
}
