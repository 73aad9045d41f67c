import SluicePluginHost

/// A library whose content is not the one that serves.
struct LibraryReading: Sendable {
  let image: LibraryImage
  let facts: LibraryFacts

  /// Nil where the content is known. Throws for what this host cannot use, and for what is not whole.
  init?(
    _ file: String, of library: String, _ known: ContentHash?, _ registry: GenerationRegistry
  ) throws(PluginError) {
    image = try LibraryImage(reading: file, as: library)
    if image.hash == known { return nil }
    facts = try registry.facts(of: image)
  }
}

/// How long a file that is missing or being written is waited for: seven looks within some two seconds.
struct ReadingPatience {
  private var tries = 0
  private static let first = Duration.milliseconds(25)

  mutating func next() -> Duration? {
    tries += 1
    return tries <= 6 ? Self.first * (1 << (tries - 1)) : nil
  }

  var isFirst: Bool { tries == 1 }
}
