import SluiceAssembly

extension Engine {
  /// The private copies of the serving libraries, by their paths in the configuration. If they are read before a swap,
  /// they are the old builds for a `Replay`. A copy stays in its place as long as the engine exists.
  public var libraryCopies: [String: String] { swaps.published.copies }
}

extension Snapshot {
  /// The private copies of its libraries, by their paths in the configuration.
  var copies: [String: String] { Dictionary(generations.map { ($0.library, $0.copy) }) { first, _ in first } }
}
