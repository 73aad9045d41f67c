import Glibc
import SluiceSupport

/// An entry of a folder, such as a symbolic link. If the entry changes, a path through it can lead to another file.
struct WatchedPlace: Hashable {
  /// The absolute path of the folder, which existed when the place was found.
  let folder: String
  let name: String

  /// Every entry that decides which file a path leads to: each symbolic link on the path, and the entry at its end. The
  /// entry at the end is the file itself, or the first name that does not exist.
  static func all(of path: String, limit: Int = 40) -> [WatchedPlace] {
    var places: [WatchedPlace] = []
    var rest = components(Paths.absolute(path))
    var folder = ""
    var links = 0
    while !rest.isEmpty {
      let name = rest.removeFirst()
      if name == ".." {
        folder = folder.isEmpty ? "" : String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)])
        continue
      }
      let place = WatchedPlace(folder: folder.isEmpty ? "/" : folder, name: name)
      let next = "\(folder)/\(name)"
      var status = stat()
      guard lstat(next, &status) == 0 else { return places + [place] }
      if status.st_mode & S_IFMT == S_IFLNK, let target = SymbolicLink.target(next) {
        places.append(place)
        links += 1
        // The symbolic links form a cycle. The error is reported when the path is opened.
        guard links <= limit else { return places }
        rest = components(target) + rest
        if target.hasPrefix("/") { folder = "" }
        continue
      }
      if rest.isEmpty { places.append(place) }
      folder = next
    }
    return places
  }

  private static func components(_ path: String) -> [String] {
    path.split(separator: "/").map(String.init).filter { $0 != "." }
  }
}
