/// The state that an instance hands over to the next instance: the document that `save` of `sluice.state/1` returns.
package struct SavedState: Sendable, Hashable {
  /// JSON text.
  package let text: String
  /// The version of the document's format. The plugin sets it in `save` and gets it in `load`.
  package let version: UInt32

  package init(text: String, version: UInt32) {
    self.text = text
    self.version = version
  }
}
