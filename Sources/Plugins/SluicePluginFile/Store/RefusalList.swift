import Glibc
import SluiceMessages
package import SluicePluginHost
import SluiceSupport

/// Builds that failed while they served, by content. They are refused until they are removed from the list.
///
/// The list is stored in the store's folder `refused`, so that it survives a restart. The folder `refused` has one
/// folder for each project, with one file for each hash. The file contains the reason. A refusal that cannot be written
/// there lasts until the process ends, and a refusal whose file somebody has removed ends at once. A project is a
/// configuration file, or a program without a configuration file. A build that fails in one project can still serve in
/// another project that uses the same store.
package final class RefusalList: Sendable {
  private struct Refusal: Sendable {
    let reason: String
    /// Whether there is a file for it.
    var isStored = true
  }

  private static let longestReasonBytes = 4096

  private let store: String
  private let folder: String
  private let refusals: Locked<[String: Refusal]>

  /// - Parameter project: a path; see ``project(of:)``.
  package init(store: PluginStore, project: String) {
    self.store = store.path
    folder = "\(store.path)/refused/\(Self.folderName(of: project))"
    var found: [String: Refusal] = [:]
    for name in FolderListing.names(in: folder) where ContentHash(hex: name)?.hex == name {
      if let file = FileDescriptor(opening: "\(folder)/\(name)", O_RDONLY | O_NOFOLLOW),
        let bytes = file.readAll(capacity: Self.longestReasonBytes)
      {
        found[name] = Refusal(reason: String(decoding: bytes, as: UTF8.self))
      }
    }
    refusals = Locked(found)
  }

  /// The project of a configuration file; different spellings of its path give the same project. nil means the running
  /// program itself.
  package static func project(of file: String?) -> String {
    guard let file else { return RunningProgram.path() ?? "" }
    guard let resolved = realpath(SystemPath.of(file), nil) else { return file }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// A name for the folder of a project, which does not reveal the path.
  static func folderName(of project: String) -> String {
    ContentHash(of: Array(project.utf8)).map { String($0.hex.prefix(16)) } ?? "unknown"
  }

  /// The reason of each refusal, by the SHA-256 of the build in hex.
  package var all: [String: String] {
    refusals.withLock { refusals in
      refusals = refusals.filter { stands($0.value, $0.key) }
      return refusals.mapValues(\.reason)
    }
  }

  /// Why that content is refused; nil if it is not refused.
  package func reason(for hash: ContentHash) -> String? {
    refusals.withLock { refusals in
      guard let refusal = refusals[hash.hex] else { return nil }
      if stands(refusal, hash.hex) { return refusal.reason }
      refusals[hash.hex] = nil
      return nil
    }
  }

  /// Whether the next process refuses that content too.
  package func isStored(_ hash: ContentHash) -> Bool {
    refusals.withLock { $0[hash.hex]?.isStored == true } && access(path(of: hash), F_OK) == 0
  }

  private func stands(_ refusal: Refusal, _ hash: String) -> Bool {
    !refusal.isStored || access("\(folder)/\(hash)", F_OK) == 0 || errno != ENOENT
  }

  /// The file that keeps the refusal of that content.
  package func path(of hash: ContentHash) -> String { "\(folder)/\(hash.hex)" }

  /// Refuses a build from now on.
  /// - Parameter hash: SHA-256 in hex.
  /// - Throws: an error if the text is not a hash, or if the list cannot be written. In the second case, the refusal is
  ///   added in memory only.
  package func add(_ hash: String, because reason: String) throws(PluginError) {
    guard let build = ContentHash(hex: hash) else {
      throw PluginError(
        .store, .store(path: store), "cannot refuse \(PlainText.quote(hash)), which is not a SHA-256 of a library",
        advice: "give its 64 hex digits, as the status of the engine has them")
    }
    refusals.withLock { $0[build.hex] = Refusal(reason: reason, isStored: false) }
    mkdir(store + "/refused", 0o700)
    mkdir(folder, 0o700)
    guard let file = FileDescriptor(opening: path(of: build), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
    else { throw unwritten(build) }
    guard file.writeAll(Array(reason.utf8.prefix(Self.longestReasonBytes))) else { throw unwritten(build) }
    refusals.withLock { $0[build.hex]?.isStored = true }
  }

  /// An error with the system's message for `errno`.
  private func unwritten(_ hash: ContentHash) -> PluginError {
    StoreFolder.error(
      store, "the refusal of build \(hash.hex.prefix(12)) ends with this process, since \(folder) cannot be written to")
  }

  /// Removes one hash from the list; nil removes all.
  /// - Throws: an error if the file of a build cannot be removed. The next process then refuses this build again.
  package func clear(_ hash: String? = nil) throws(PluginError) {
    let hash = hash.map { ContentHash(hex: $0)?.hex ?? $0 }
    let cleared = refusals.withLock { refusals in
      let hashes = hash.map { refusals[$0] == nil ? [] : [$0] } ?? Array(refusals.keys)
      for hash in hashes { refusals[hash] = nil }
      return hashes
    }
    var failure: PluginError?
    for hash in cleared {
      if unlink("\(folder)/\(hash)") == 0 || errno == ENOENT { continue }
      failure = StoreFolder.error(
        store, "build \(hash.prefix(12)) is refused again by the next process: its file in \(folder) cannot be removed")
    }
    if let failure { throw failure }
  }
}
