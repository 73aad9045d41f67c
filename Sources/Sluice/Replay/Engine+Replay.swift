extension Engine {
  /// The private copies of the libraries that serve now, by their paths in the configuration: what a ``Replay`` takes for the
  /// old build, when asked for before a swap. A copy stays where it is as long as the engine lives.
  public var libraryCopies: [String: String] {
    Dictionary(swaps.published.generations.map { ($0.library, $0.copy) }) { first, _ in first }
  }
}
