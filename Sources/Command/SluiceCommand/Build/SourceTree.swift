import Glibc
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

/// The source files below a path, without hidden files, files that editors leave behind, and build outputs. A symbolic
/// link to a source file counts as a file.
struct SourceTree {
  private static let skippedFolders: Set<String> = ["build", "node_modules", "CMakeFiles"]
  private static let skippedEndings = ["~", ".so", ".o", ".a", ".d", ".swp", ".swx", ".tmp"]
  /// The maximum number of folders, so that wrong input such as "/" is not expensive.
  private static let mostFolders = 2048

  /// Absolute paths without symbolic links.
  private(set) var folders: [String] = []
  private(set) var files: [String] = []
  /// The files that are symbolic links.
  private(set) var links: [String] = []

  init(_ path: String) {
    guard let root = Paths.resolved(path) else { return }
    if Paths.isFolder(root) { add(root) } else { files = [root] }
  }

  private mutating func add(_ folder: String) {
    guard folders.count < Self.mostFolders else { return }
    folders.append(folder)
    for name in FolderListing.names(in: folder) where !Self.isSkipped(name) {
      let path = "\(folder)/\(name)"
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFDIR where !Self.isSkipped(name, isFolder: true): add(path)
      case S_IFREG: files.append(path)
      case S_IFLNK where leadsToSource(path):
        files.append(path)
        links.append(path)
      default: break
      }
    }
  }

  /// Whether a symbolic link leads to a regular file that is not an output. A link to a folder does not count, because
  /// such links can form a cycle.
  private func leadsToSource(_ link: String) -> Bool {
    var status = stat()
    guard let target = Paths.resolved(link), stat(target, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return false
    }
    // The root can be in a folder with any name, so the folders that it shares with the target are not looked at.
    let root = (folders.first ?? "").split(separator: "/")
    let names = target.split(separator: "/").map { String($0) }
    let shared = zip(root, names).prefix { $0 == $1 }.count
    return !Self.isSkipped(names.last ?? "")
      && !names.dropFirst(shared).dropLast().contains { Self.isSkipped($0, isFolder: true) }
  }

  /// Whether a file with that name is not a source, or a folder with that name has no sources.
  static func isSkipped(_ name: String, isFolder: Bool = false) -> Bool {
    name.hasPrefix(".") || name.hasPrefix("#") || name == "4913" || skippedEndings.contains { name.hasSuffix($0) }
      || (isFolder && skippedFolders.contains(name))
  }

  /// A hash of the paths and contents of all files; nil if it cannot be computed.
  /// - Parameter endings: the endings of the file names that are included; nil for all files.
  static func hash(of paths: [String], endings: [String]? = nil) -> ContentHash? {
    var bytes: [UInt8] = []
    for file in paths.flatMap({ SourceTree($0).files }) {
      guard endings?.contains(where: { file.hasSuffix($0) }) ?? true else { continue }
      guard let content = try? FileContent.read(file), let hash = ContentHash(of: content) else { continue }
      bytes += Array("\(file)\0\(hash.hex)\0".utf8)
    }
    return ContentHash(of: bytes)
  }
}
