import Glibc
package import SluicePluginHost
import SluiceSupport

/// The folder of private copies: `<sha256>/<generation>/plugin.so`.
///
/// The file that a build has produced is never mapped itself: if it were overwritten, running code would change. Each
/// generation has its own path and inode, because the dynamic loader returns the old code for a path or inode that it
/// already knows.
///
/// The process that makes a copy locks it (`flock`), before the copy gets its name and until the process ends. One file
/// holds the locks of all copies (see `StoreOwner`). An unlocked copy is left over from a process that has ended, and
/// is removed by the next process that uses the store.
package struct PluginStore: Sendable {
  package let path: String

  /// Creates the folder if it is missing, and checks it.
  package init(at path: String) throws(PluginError) {
    self.path = path
    try StoreFolder.prepare(path)
  }

  /// Removes at most `limit` copies that processes have left over. Blocks.
  package func prune(limit: Int = 256) { StorePruner(store: path, limit: limit).run() }

  /// `$XDG_CACHE_HOME/sluice/plugins`, or below `~/.cache`; if HOME is not set, the home is looked up in the user
  /// database. nil if the user has no home. A relative XDG_CACHE_HOME is ignored, as its specification demands.
  package static func defaultPath(environment: (String) -> String? = Self.environment) -> String? {
    if let cache = environment("XDG_CACHE_HOME"), cache.hasPrefix("/") { return cache + "/sluice/plugins" }
    return home(environment).map { $0 + "/.cache/sluice/plugins" }
  }

  /// The user's home; looked up in the user database if HOME is not set.
  package static func home(_ environment: (String) -> String?) -> String? {
    environment("HOME").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? homeOfUser()
  }

  /// Creates the next generation of a library: a new file, which is complete before it gets its name.
  package func stage(_ image: LibraryImage) throws(PluginError) -> StoredPlugin {
    let owner = try StoreOwner.current(in: path)
    let staging = try StagingFolder(in: path)
    let status = try staging.write(image.content, for: owner)
    let entry = "\(path)/\(image.hash.hex)"
    let generation = try publish(staging.path, in: entry)
    let folder = "\(entry)/\(generation)"
    return StoredPlugin(
      at: "\(folder)/\(StagingFolder.fileName)", status, hash: image.hash, generation: generation,
      keeper: CopyKeeper(of: folder, owner))
  }

  /// Moves a staged folder into `entry`, the folder of its build, and returns its number there: the one after the
  /// highest that is used.
  private func publish(_ staged: String, in entry: String) throws(PluginError) -> Int {
    // The store assigns only numbers in this range; a folder with any other number is ignored.
    var number = (Self.generations(of: entry).filter { (1...1_000_000_000).contains($0) }.max() ?? 0) + 1
    for _ in 0..<1000 {
      // Created again in each round, because another process might prune the entry before the rename.
      guard mkdir(entry, 0o700) == 0 || errno == EEXIST else { throw StoreFolder.error(path, "cannot be written to") }
      guard let folder = FileDescriptor(opening: entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) else {
        if errno == ENOENT { continue }
        throw StoreFolder.refusal(ofEntry: entry, in: path)
      }
      try StoreFolder.require(entry: folder, at: entry, in: path)
      // Renames through the descriptor of `entry`, because its path might already refer to another folder.
      if renameat(AT_FDCWD, staged, folder.raw, "\(number)") == 0 { return number }
      switch errno {
      // Another process was faster; a folder with a copy in it is never replaced.
      case ENOTEMPTY, EEXIST: number += 1
      case ENOENT: continue
      default: throw StoreFolder.error(path, "cannot be written to")
      }
    }
    throw StoreFolder.error(path, "other processes change it all the time")
  }

  package static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  static func generations(of entry: String) -> [Int] { FolderListing.names(in: entry).compactMap { Int($0) } }

  private static func homeOfUser() -> String? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16384) { buffer in
      guard let base = buffer.baseAddress, getpwuid_r(geteuid(), &entry, base, buffer.count, &found) == 0, found != nil
      else { return nil }
      return entry.pw_dir.map { String(cString: $0) }
    }
  }
}
