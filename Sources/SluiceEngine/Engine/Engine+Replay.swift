import SluiceAssembly

extension Engine {
  /// The private copies of the serving libraries, by their paths in the configuration. Read before a swap, they are the
  /// old build for a `Replay`. A copy stays in its place as long as the engine exists.
  public var libraryCopies: [String: String] {
    Dictionary(swaps.published.generations.map { ($0.library, $0.copy) }) { first, _ in first }
  }
}
