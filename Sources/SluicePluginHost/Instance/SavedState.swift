/// What an instance handed over: the document of `save` in `sluice.state/1`.
public struct SavedState: Sendable, Hashable {
  /// JSON text.
  public let text: String
  /// The form that it has, for `load`.
  public let version: UInt32

  public init(text: String, version: UInt32) {
    self.text = text
    self.version = version
  }
}
