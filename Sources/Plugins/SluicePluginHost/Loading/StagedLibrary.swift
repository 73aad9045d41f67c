/// A library that passed the preflight, together with its private copy. The copy exists at least as long as this value.
package struct StagedLibrary: Sendable {
  /// The path in messages.
  package let path: String
  package let copy: StoredPlugin
  package let facts: LibraryFacts

  package init(path: String, copy: StoredPlugin, facts: LibraryFacts) {
    self.path = path
    self.copy = copy
    self.facts = facts
  }

  /// Maps the copy. Blocks while the constructors of the library run, which happens on a separate thread.
  package func load() throws(PluginError) -> LoadedLibrary {
    try LoadedLibrary.load(copy, facts: facts, path: path)
  }
}
