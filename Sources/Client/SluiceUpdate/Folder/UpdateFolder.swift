import Glibc
import SluiceJSON
import SluicePluginFile
import SluicePluginHost
import SluiceSupport
import SluiceUpdateRules

/// The folder of an installation:
///
///     state                     what was accepted and what serves; see UpdateState
///     lock                      held while a process changes something here
///     fetch                     held while a process fetches documents and builds
///     current                   a link to the release that serves
///     releases/N/ID.so          links to the builds of a release
///     releases/N.release.json   the signed document
///     builds/SHA256.so          every build, by content; never written again
///     downloads/SHA256.part     unfinished downloads
///     history.jsonl             what has happened
struct UpdateFolder: Sendable {
  let path: String

  /// Makes the folder if it is missing. Only this user may write to it, because libraries are loaded from it.
  init(at path: String) throws(UpdateError) {
    self.path = path
    for folder in [path, "\(path)/releases", "\(path)/builds", "\(path)/downloads"] {
      try DurableFile.makeFolder(folder)
      var status = stat()
      guard stat(folder, &status) == 0 else { throw DurableFile.failure(folder, "cannot be examined") }
      guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
        throw UpdateError(
          .state, folder, "it must belong to this user, and other users must not be able to write to it",
          advice: "chmod 700 \(folder), or set update.folder to a folder of yours")
      }
    }
  }

  private var statePath: String { "\(path)/state" }
  private var currentPath: String { "\(path)/current" }
  var historyPath: String { "\(path)/history.jsonl" }
  var lockPath: String { "\(path)/lock" }
  var fetchLockPath: String { "\(path)/fetch" }
  func buildPath(_ hash: String) -> String { "\(path)/builds/\(hash).so" }
  func downloadPath(_ hash: String) -> String { "\(path)/downloads/\(hash).part" }
  private func documentPath(_ release: Int64) -> String { "\(path)/releases/\(release).release.json" }
  func releaseFolder(_ release: Int64) -> String { "\(path)/releases/\(release)" }

  // MARK: State

  /// Reads the state; nil before the first update.
  func state() throws(UpdateError) -> UpdateState? {
    guard let bytes = try DurableFile.readIfPresent(statePath, limitBytes: UpdateState.limitBytes) else { return nil }
    return try UpdateState(file: bytes, at: statePath)
  }

  /// Writes the state to disk, and then makes `current` name the installed release of the state.
  func save(_ state: UpdateState) throws(UpdateError) {
    let file = try state.file
    // The text is parsed before it is written, because a state that cannot be read would stop every update.
    _ = try UpdateState(file: file, at: statePath)
    try DurableFile.replace(statePath, with: file)
    try followLink(state)
  }

  /// Makes the link `current` name the release that the state says is installed. The link can name another release if a
  /// process ended after it had written the state and before it changed the link.
  func followLink(_ state: UpdateState) throws(UpdateError) {
    let goal = state.installed.map { "releases/\($0)" }
    guard SymbolicLink.target(currentPath) != goal else { return }
    guard let goal else { return try DurableFile.remove(currentPath) }
    let temporary = "\(path)/.\(TemporaryFiles.randomName).link"
    guard symlink(goal, temporary) == 0 else { throw DurableFile.failure(temporary, "cannot be made") }
    guard rename(temporary, currentPath) == 0 else {
      let error = DurableFile.failure(currentPath, "cannot be changed")
      unlink(temporary)
      throw error
    }
    try DurableFile.syncFolder(of: currentPath)
  }

  // MARK: Releases

  /// - Parameter file: the exact bytes that were fetched, because the timestamp has their hash.
  func write(_ file: [UInt8], of release: Int64) throws(UpdateError) {
    try DurableFile.replace(documentPath(release), with: file)
  }

  /// Reads an accepted release. Its signatures were checked when it was accepted.
  /// - Parameter hash: the hash of the release's file that the timestamp names; nil for an older release.
  func release(_ version: Int64, hash: String? = nil) throws(UpdateError) -> ReleaseDocument {
    let path = documentPath(version)
    let bytes = try DurableFile.read(path, limitBytes: UpdateRole.release.limitBytes)
    if let hash, ContentHash(of: bytes)?.hex != hash {
      throw UpdateError(.state, path, "it is damaged: its hash is wrong")
    }
    let release = try ReleaseDocument(payload: SignedDocument(file: bytes, path).payload)
    guard release.version == version else {
      throw UpdateError(.state, path, "it is damaged: it has version \(release.version)")
    }
    return release
  }

  /// Whether a build is on disk and its content has the right hash.
  func hasBuild(_ hash: String) -> Bool {
    guard let file = FileDescriptor(opening: buildPath(hash), O_RDONLY | O_NONBLOCK | O_NOFOLLOW),
      file.status()?.isRegularFile == true, let digest = StreamingHash()
    else { return false }
    while let piece = DescriptorPiece.read(file.raw) {
      if piece.isEmpty { return digest.finish() == hash }
      digest.add(piece)
    }
    return false
  }

  /// Makes the links of a release. Links that are already right are not changed.
  /// - Returns: whether something has changed.
  func link(_ targets: [ReleaseTarget], of release: Int64) throws(UpdateError) -> Bool {
    let folder = releaseFolder(release)
    try DurableFile.makeFolder(folder)
    var isChanged = false
    for target in targets {
      let (link, build) = ("\(folder)/\(target.id).so", "../../builds/\(target.sha256).so")
      guard buildHash(target.id, of: release) != target.sha256 else { continue }
      isChanged = true
      guard symlink(build, link) != 0 else { continue }
      guard errno == EEXIST else { throw DurableFile.failure(link, "cannot be made") }
      // The link names another build, because this version was published again with another build.
      try DurableFile.remove(link)
      guard symlink(build, link) == 0 else { throw DurableFile.failure(link, "cannot be made") }
    }
    try DurableFile.syncFolder(of: "\(folder)/x")
    return isChanged
  }

  /// The releases that are set up, the newest first.
  var releases: [Int64] {
    FolderListing.names(in: "\(path)/releases").compactMap { Int64($0) }.filter { $0 > 0 }.sorted(by: >)
  }

  /// The hash of a plugin's build in a release that was set up; nil if the release has no build of the plugin.
  func buildHash(_ id: String, of release: Int64) -> String? {
    guard let target = SymbolicLink.target("\(releaseFolder(release))/\(id).so") else { return nil }
    let name = target.split(separator: "/").last ?? ""
    return ContentHash(hex: String(name.dropLast(3)))?.hex
  }

  /// Whether a plugin's build in a release that was set up is on disk and has the right hash.
  func hasWholeBuild(_ id: String, of release: Int64) -> Bool { buildHash(id, of: release).map(hasBuild) ?? false }

  /// Removes releases and builds that nothing refers to, and files that interrupted writes have left.
  func prune(_ state: UpdateState) {
    for folder in [path, "\(path)/releases"] {
      for name in FolderListing.names(in: folder) where name.hasPrefix(".") { unlink("\(folder)/\(name)") }
    }
    var kept = Set(state.good)
    for release in [state.installed, state.accepted?.version, state.probation?.release, state.probation?.previous] {
      if let release { kept.insert(release) }
    }
    var hashes: Set<String> = []
    for name in FolderListing.names(in: "\(path)/releases") {
      guard let release = Int64(name.split(separator: ".").first ?? ""), !kept.contains(release) else {
        if let release = Int64(name) {
          for link in FolderListing.names(in: releaseFolder(release)) {
            if let hash = buildHash(String(link.dropLast(3)), of: release) { hashes.insert(hash) }
          }
        }
        continue
      }
      if name.hasSuffix(".json") {
        unlink(documentPath(release))
      } else {
        for link in FolderListing.names(in: releaseFolder(release)) { unlink("\(releaseFolder(release))/\(link)") }
        rmdir(releaseFolder(release))
      }
    }
    for name in FolderListing.names(in: "\(path)/builds") where !hashes.contains(String(name.dropLast(3))) {
      unlink("\(path)/builds/\(name)")
    }
    for name in FolderListing.names(in: "\(path)/downloads") { unlink("\(path)/downloads/\(name)") }
  }
}
