/// Loads a library from its path into the process: read once, preflight, private copy, map, check.
///
///     path ─ LibraryImage ─ Preflight ─ PluginStore.stage ─ LoadedLibrary.load ─ PluginEntry.call ─ PluginGeneration
package struct PluginLoader: Sendable {
  package let store: PluginStore
  package let offer: HostOffer

  package init(store: PluginStore, offer: HostOffer = HostOffer()) {
    self.store = store
    self.offer = offer
  }

  /// All steps before code of the library runs.
  package func stage(_ path: String) throws(PluginError) -> (copy: StoredPlugin, facts: LibraryFacts) {
    let image = try LibraryImage(reading: path)
    let facts = try Preflight.facts(of: image, for: offer)
    return (try store.stage(image), facts)
  }

  /// Blocks until the library is mapped; for the start of a program.
  package func load(_ path: String) throws(PluginError) -> LoadedLibrary {
    let (copy, facts) = try stage(path)
    return try LoadedLibrary.load(copy, facts: facts, path: path)
  }

  /// Reads and copies on the caller's thread, maps on another.
  package func load(_ path: String) async throws(PluginError) -> LoadedLibrary {
    let (copy, facts) = try stage(path)
    return try await LoadedLibrary.load(copy, facts: facts, path: path)
  }
}
