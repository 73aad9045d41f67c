import SluiceAssembly
import Sluice
import SluiceMessages
import SluicePluginFile
import SluicePluginHost
import SluiceUpdateRules

/// One change of an installation, from taking the lock of its folder to releasing it. Only one task uses it.
///
/// It reads ``UpdateState``, and writes a new state to the folder before it acts on this state. Engines load builds
/// without the lock.
final class UpdateSession {
  let updater: Updater
  let rules: UpdateRules
  /// The time at which the change began (TUF §5.1).
  let start: UpdateMoment
  var state: UpdateState
  /// Whether there was a state on disk when the session began.
  private(set) var isKnown: Bool
  private var lock: FolderLock

  private init(
    _ updater: Updater, _ lock: FolderLock, _ start: UpdateMoment, _ state: UpdateState, isKnown: Bool
  ) {
    self.updater = updater
    self.lock = lock
    self.start = start
    self.state = state
    self.isKnown = isKnown
    rules = updater.rules(start)
  }

  var folder: UpdateFolder { updater.folder }

  /// Takes the lock and reads the state. If there is none, makes one from the configured root.
  static func begin(_ updater: Updater) async throws(UpdateError) -> UpdateSession {
    let lock = try await FolderLock.take(updater.folder.lockPath)
    let start = updater.clock()
    let (anchor, hash) = try updater.anchor()
    guard let state = try updater.folder.state() else {
      let root = try RootDocument(payload: anchor.payload)
      var state = UpdateState(
        url: "\(updater.settings.url)", channel: updater.settings.channel, anchor: hash, root: anchor.file)
      state.floors.root = TrustFloors.Floor(version: root.version, created: root.created)
      return UpdateSession(updater, lock, start, state, isKnown: false)
    }
    guard state.channel == updater.settings.channel else {
      throw UpdateError(
        .state, updater.folder.path,
        "it belongs to channel \"\(state.channel)\" of \(state.url)", advice: "set another update.folder")
    }
    let session = UpdateSession(updater, lock, start, state, isKnown: true)
    // The URL can change, because a client trusts documents for their signatures, not for the server that has them.
    session.state.url = "\(updater.settings.url)"
    try updater.folder.followLink(state)
    try session.adopt(anchor, hash)
    try session.judgeEndedProbation()
    return session
  }

  /// Releases the lock. Nothing must be saved after this call.
  func end() { lock.release() }

  /// Releases the lock while it does the work, so that other updaters need not wait for a slow mirror.
  ///
  /// Afterwards, it takes the lock and reads the state again, which other updaters can have changed. They cannot have
  /// accepted a document, because only one process fetches at a time.
  func unlocked<Value>(_ work: () async throws(UpdateError) -> Value) async throws(UpdateError) -> Value {
    lock.release()
    let result: Result<Value, UpdateError>
    do throws(UpdateError) { result = .success(try await work()) } catch { result = .failure(error) }
    lock = try await FolderLock.take(folder.lockPath)
    let (root, floors) = (state.root, state.floors)
    if let changed = try folder.state() { state = changed }
    guard state.root == root, state.floors == floors else {
      throw UpdateError(.busy, folder.path, "another process has put a root in place", advice: "look again")
    }
    return try result.get()
  }

  func save() throws(UpdateError) {
    try folder.save(state)
    isKnown = true
  }

  /// The trusted root.
  func root() throws(UpdateError) -> RootDocument {
    try RootDocument(payload: SignedDocument(file: state.root, "root").payload)
  }

  /// Trusts the root that the configuration names, if the operator has replaced it and it is newer than the trusted
  /// root. This is how an operator recovers from lost keys.
  private func adopt(_ anchor: SignedDocument, _ hash: String) throws(UpdateError) {
    guard hash != state.anchor else { return }
    let (trusted, configured) = (try root(), try RootDocument(payload: anchor.payload))
    state.anchor = hash
    if configured.version > trusted.version {
      state.floors = rules.floors(state.floors, after: configured, following: trusted)
      state.root = anchor.file
      updater.note(
        UpdateEvent(
          kind: .root, release: nil, hash: hash,
          message: "root \(configured.version) of the configuration takes the place of root \(trusted.version)"))
    }
    try save()
  }

  /// Leaves a release that is on probation if the process in which it served has ended unexpectedly. The release has
  /// probably crashed that process.
  private func judgeEndedProbation() throws(UpdateError) {
    guard let probation = state.probation, let owner = probation.owner, !owner.isRunning else { return }
    guard !owner.isOfEarlierBoot else {
      // The machine was started again, which ended the process. The next process begins the probation again.
      state.probation?.owner = nil
      return try save()
    }
    let reason = "process \(owner.pid) ended unexpectedly while release \(probation.release) was on probation"
    try giveUp(probation.release, probation.previous, because: reason, refusing: nil)
  }

  /// Leaves a release that has failed.
  /// - Parameter hashes: the builds that have failed; nil means all builds that are new in the release.
  func giveUp(
    _ release: Int64, _ previous: Int64?, because reason: String, refusing hashes: Set<String>?
  ) throws(UpdateError) {
    let reason = Updater.words(reason)
    for id in updater.ids {
      guard let hash = folder.buildHash(id, of: release) else { continue }
      let isNew = previous.flatMap { folder.buildHash(id, of: $0) } != hash
      guard hashes.map({ $0.contains(hash) }) ?? isNew, state.refused[hash] == nil else { continue }
      state.refused[hash] = reason
      updater.note(UpdateEvent(kind: .refused, release: release, plugin: id, hash: hash, message: reason))
    }
    state.held = UpdateState.Held(release: release, reason: reason)
    state.good.removeAll { $0 == release }
    if state.probation?.release == release { state.probation = nil }
    guard state.installed == release else { return try save() }
    // A return must not bring revoked or refused builds back. If no other release is usable, the plugins of these
    // builds are switched off.
    let isUsable = previous.map { unusable(in: $0).isEmpty } ?? false
    let next = isUsable ? previous : fallback() ?? previous
    state.installed = next
    try save()
    updater.note(
      UpdateEvent(
        kind: .returned, release: next,
        message: next.map { "release \($0) serves again: \(reason)" }
          ?? "release \(release) is not installed any more, and there is none before it: \(reason)"))
  }

  // MARK: What serves

  /// The ids of the plugins whose build in a release is missing or must not serve.
  func unusable(in release: Int64?) -> [String] {
    guard let release else { return updater.ids }
    return updater.ids.filter { id in
      guard let hash = folder.buildHash(id, of: release) else { return true }
      return state.objection(to: hash) != nil
    }
  }

  /// The plugins that must be switched off because their build must not serve. Maps the name in the configuration to
  /// the reason.
  func disablingReasons() -> [String: String] {
    guard let installed = state.installed else { return [:] }
    var reasons: [String: String] = [:]
    for plugin in updater.plugins {
      guard let id = plugin.releaseID, let hash = folder.buildHash(id, of: installed),
        let objection = state.objection(to: hash)
      else { continue }
      reasons[plugin.name] =
        "plugin \"\(plugin.name)\" is switched off: its build \(hash.prefix(12)) of release \(installed) must not "
        + "serve (\(objection)), and no other build is installed; install a newer release: sluice update apply"
    }
    return reasons
  }

  /// The newest good release, other than the installed one, that can serve; nil if there is none.
  func fallback() -> Int64? {
    state.good.last { release in
      release != state.installed && canServe(release)
    }
  }

  /// Whether each build of a release is whole, and neither refused nor revoked. It does not matter whether the release
  /// has a build of each plugin.
  func mayServe(_ release: Int64) -> Bool {
    updater.ids.allSatisfy { id in
      folder.buildHash(id, of: release).map { state.objection(to: $0) == nil && folder.hasBuild($0) } ?? true
    }
  }

  /// Whether a release has a build of each plugin, and each build is whole, and neither refused nor revoked.
  func canServe(_ release: Int64) -> Bool {
    unusable(in: release).isEmpty && updater.ids.allSatisfy { folder.hasWholeBuild($0, of: release) }
  }

  /// Makes a release serve. The caller lets the engine load it afterwards.
  /// - Parameters:
  ///   - isReturn: whether the release has passed its probation before.
  ///   - owner: the process in which the release is on probation; nil means the next process that starts.
  ///   - message: the text for the history; nil if the caller writes it when the engine has loaded the release.
  func activate(_ release: Int64, isReturn: Bool, owner: ProcessMark? = .current, message: String?) throws(UpdateError)
  {
    // If this version is already installed, but with other builds, it cannot be its own previous release: the last good
    // release takes that place.
    let previous = state.installed == release ? state.good.last { $0 != release } : state.installed
    state.installed = release
    state.probation =
      isReturn ? nil : UpdateState.Probation(release: release, previous: previous, owner: owner)
    if !isReturn { state.held = nil }
    try save()
    if let message { note(isReturn ? .returned : .installed, release, message) }
  }

  /// Writes a line about a release to the history. If it is the newest release, the line has its hash and its signers.
  func note(_ kind: UpdateEvent.Kind, _ release: Int64, _ message: String) {
    let accepted = state.accepted.flatMap { $0.version == release ? $0 : nil }
    updater.note(
      UpdateEvent(kind: kind, release: release, hash: accepted?.hash, keys: accepted?.keys ?? [], message: message))
  }
}

extension Updater {
  func rules(_ start: UpdateMoment) -> UpdateRules {
    UpdateRules(
      start: start, channel: settings.channel, built: UpdateMoment(seconds: Product.madeAtSeconds), verifier: verifier)
  }

  /// Reads the root that the configuration names, and the hash of its file. This root is trusted without signatures of
  /// an older root.
  func anchor() throws(UpdateError) -> (SignedDocument, hash: String) {
    let bytes: [UInt8]
    let document: SignedDocument
    do throws(UpdateError) {
      bytes = try DurableFile.read(settings.root, limitBytes: UpdateRole.root.limitBytes)
      document = try SignedDocument(file: bytes, "the file")
      // The root is checked, because an operator can copy a wrong or damaged file.
      let root = try RootDocument(payload: document.payload)
      _ = try rules(clock()).authenticated(document, as: .root, by: root)
    } catch {
      throw UpdateError(
        error.code == .verifier ? .verifier : .usage, "update.root, \(settings.root)",
        error.code == .state ? error.reason : "it is not the root.json of a repository: \(error)",
        advice: "get root.json from the publisher")
    }
    return (document, try ContentHash.hex(of: bytes))
  }
}
