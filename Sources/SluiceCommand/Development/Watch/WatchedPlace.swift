import Glibc

/// A name in a folder. If what the name refers to changes, a path can lead to another file.
struct WatchedPlace: Hashable {
  /// Absolute; the folder existed when the place was found.
  let folder: String
  let name: String

  /// Every place that decides what a path leads to: each symbolic link on the way, and the file at the end or the first
  /// name that does not exist.
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
      if status.st_mode & S_IFMT == S_IFLNK, let target = target(of: next) {
        places.append(place)
        links += 1
        // The links form a cycle, which is reported when the path is opened.
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

  private static func target(of link: String) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
      guard let start = buffer.baseAddress else { return nil }
      let count = readlink(link, start, buffer.count)
      guard count > 0 else { return nil }
      return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }
  }
}
