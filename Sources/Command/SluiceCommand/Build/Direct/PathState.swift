import Glibc
import SluicePluginHost
import SluiceSupport

/// Shows whether files and folders have changed, without reading their contents. A file counts as changed if its
/// identity, mode, size or times differ. A folder counts as changed if the names in it differ.
struct PathState: Equatable, Codable {
  private var files: [String: String] = [:]
  private var folders: [String: [String]] = [:]

  /// Returns nil if a tree is too large, or contains something other than files and folders. A symbolic link, for
  /// instance, could lead anywhere.
  /// - Parameters:
  ///   - files: compared by identity, mode, size and times; symbolic links are followed.
  ///   - folders: compared by the names in them; folders below them are not included.
  ///   - trees: folders that are compared with all folders below them.
  init?(files: some Sequence<String>, folders: some Sequence<String>, trees: some Sequence<String>) {
    for path in files { self.files[path] = Self.numbers(of: path) }
    for path in folders { self.folders[path] = Self.names(in: path) }
    for path in trees {
      guard addTree(path) else { return nil }
    }
  }

  private mutating func addTree(_ folder: String) -> Bool {
    // This limit keeps the cost below the cost of a package build if the input is wrong, such as "/".
    guard folders.count < 2048 else { return false }
    let names = Self.names(in: folder)
    folders[folder] = names
    return names.allSatisfy { name in
      var status = stat()
      guard lstat("\(folder)/\(name)", &status) == 0 else { return false }
      switch status.st_mode & S_IFMT {
      case S_IFREG: return true
      case S_IFDIR: return addTree("\(folder)/\(name)")
      default: return false
      }
    }
  }

  /// A path that has changed; nil if none has changed. A new folder shows as a new name in its parent folder.
  var changed: String? {
    files.keys.sorted().first { files[$0] != Self.numbers(of: $0) }
      ?? folders.keys.sorted().first { folders[$0] != Self.names(in: $0) }
  }

  /// Whether no file or folder has changed since `time` (CLOCK_REALTIME). If so, a build that began at that time has
  /// seen their current content.
  func isOlder(than time: Duration, except isExcepted: (String) -> Bool) -> Bool {
    (Array(files.keys) + Array(folders.keys)).allSatisfy { path in
      var status = stat()
      guard !isExcepted(path), stat(path, &status) == 0 else { return true }
      return .seconds(status.st_ctim.tv_sec) + .nanoseconds(status.st_ctim.tv_nsec) < time
    }
  }

  private static func numbers(of path: String) -> String {
    var status = stat()
    guard stat(path, &status) == 0 else { return "none" }
    // Both times are compared, because programs can set the time of the last write (mtime), but not the time of the
    // last change (ctime).
    let times = [status.st_mtim, status.st_ctim].map { "\($0.tv_sec).\($0.tv_nsec)" }
    return "\(status.st_dev) \(status.st_ino) \(status.st_mode) \(status.st_size) \(times[0]) \(times[1])"
  }

  /// The names in a folder, without files that `swift build` ignores: hidden files and files of editors.
  static func names(in folder: String) -> [String] {
    FolderListing.names(in: folder).filter {
      !$0.hasPrefix(".") && !$0.hasPrefix("#") && !$0.hasSuffix("~") && $0 != "4913"
    }
  }
}
