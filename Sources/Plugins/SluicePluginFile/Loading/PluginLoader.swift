package import SluicePluginHost
import SluiceSupport

/// Brings a library from its path into the process, always in these steps:
///
///     path ─ LibraryImage ─ facts: preflight ─ stage: private copy ─ load: mapping ─ enter: PluginGeneration
///
/// A swap ends after the first step if the content is the same, and a trial in a child process comes before the mapping.
package struct PluginLoader: Sendable {
  package let store: PluginStore
  package let offer: HostOffer

  package init(store: PluginStore, offer: HostOffer = HostOffer()) {
    self.store = store
    self.offer = offer
  }

  /// - Parameter folder: the store; nil means the folder in the user's cache.
  package init(store folder: String?, offer: HostOffer = HostOffer()) throws(PluginError) {
    guard let folder = folder ?? PluginStore.defaultPath() else {
      throw PluginError(
        .store, .store(path: "(none)"), "there is no home folder to keep the private copies of plugins in",
        advice: "set \"store\" to a folder of yours")
    }
    let store = try PluginStore(at: folder)
    // Old copies are removed beside the start, which does not have to wait for it.
    _ = SystemThread.start("sluice-prune") { store.prune() }
    self.init(store: store, offer: offer)
  }

  /// The facts about a library; throws if this host cannot use it.
  package func facts(
    of image: LibraryImage, allowing allowed: Set<LibraryHazard> = []
  ) throws(PluginError) -> LibraryFacts {
    try Preflight.facts(of: image, for: offer.allowing(allowed))
  }

  /// Makes the private copy. Blocks.
  package func stage(_ image: LibraryImage, _ facts: LibraryFacts) throws(PluginError) -> StagedLibrary {
    StagedLibrary(path: image.path, copy: try store.stage(image), facts: facts)
  }

  /// Takes all steps that come before code of the library runs. Blocks.
  /// - Parameter path: the path in messages; nil means the file's own path.
  package func stage(
    _ file: String, as path: String? = nil, allowing allowed: Set<LibraryHazard> = []
  ) throws(PluginError) -> StagedLibrary {
    let image = try LibraryImage(reading: file, as: path)
    return try stage(image, try facts(of: image, allowing: allowed))
  }
}

extension StagedLibrary {
  /// Uses a copy that the parent process made and holds. The parent has also checked that the configuration allows the
  /// library's hazards, so this initializer allows all of them.
  package init(borrowing copy: String, as path: String, offer: HostOffer = HostOffer()) throws(PluginError) {
    let image = try LibraryImage(reading: copy)
    let facts = try Preflight.facts(of: image, for: offer.allowing(Set(LibraryHazard.allCases)))
    let stored = try StoredPlugin(borrowing: image.realPath, hash: image.hash, as: image.path)
    self.init(path: path, copy: stored, facts: facts)
  }
}
