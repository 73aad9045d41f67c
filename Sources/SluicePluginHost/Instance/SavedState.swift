/// What an instance handed over: the document of `save` in `sluice.state/1`.
package struct SavedState: Sendable, Hashable {
  /// JSON text.
  package let text: String
  /// The form that it has, for `load`.
  package let version: UInt32

  package init(text: String, version: UInt32) {
    self.text = text
    self.version = version
  }
}
