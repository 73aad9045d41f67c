/// The state that an instance passes on: the document of `save` in `sluice.state/1`.
package struct SavedState: Sendable, Hashable {
  /// JSON text.
  package let text: String
  /// The version of the document's form, for `load`.
  package let version: UInt32

  package init(text: String, version: UInt32) {
    self.text = text
    self.version = version
  }
}
