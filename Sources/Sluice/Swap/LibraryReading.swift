import Glibc
import SluicePluginHost

/// A library whose content is not the one that serves.
struct LibraryReading: Sendable {
  let image: LibraryImage
  let facts: LibraryFacts
  private let file: String

  /// Nil where the content is known. Throws for what this host cannot use, and for what is not whole.
  init?(
    _ file: String, of library: String, _ known: ContentHash?, _ registry: GenerationRegistry,
    _ allowed: Set<LibraryHazard>
  ) throws(PluginError) {
    self.file = file
    image = try LibraryImage(reading: file, as: library)
    if image.hash == known { return nil }
    facts = try registry.facts(of: image, allowing: allowed)
  }

  /// Whether the file holds something else by now: what was read may have been a part of what is being written. Blocks.
  var hasChangedSince: Bool {
    do throws(PluginError) { return try LibraryImage(reading: file).hash != image.hash } catch {
      return error.mayBeBeingWritten
    }
  }

  /// How long ago a file was written to that is taken for finished, whatever is wrong with it.
  private static let restMilliseconds = 500

  /// Whether a file that was refused may be another one in a moment. A build that writes its parts in any order looks like
  /// something else until the last of them is there.
  static func mayPass(_ error: PluginError, _ file: String) -> Bool {
    if error.mayBeBeingWritten { return true }
    var status = stat()
    var now = timespec()
    guard stat(file, &status) == 0, clock_gettime(CLOCK_REALTIME, &now) == 0 else { return true }
    let modified = status.st_mtim
    // A time that lies ahead is one of a clock that is not ours, and says nothing.
    guard modified.tv_sec <= now.tv_sec else { return true }
    // Compared before it is subtracted, since a file system can keep any time, and a difference may overflow.
    guard modified.tv_sec >= now.tv_sec - restMilliseconds / 1000 - 1 else { return false }
    let age = (now.tv_sec - modified.tv_sec, now.tv_nsec - modified.tv_nsec)
    return age.0 * 1000 + age.1 / 1_000_000 < restMilliseconds
  }
}

/// How long a file that is missing or being written is waited for: eight looks within two seconds.
struct ReadingPatience {
  private var tries = 0
  private static let (first, longest, pauses) = (Duration.milliseconds(25), Duration.milliseconds(600), 7)

  mutating func next() -> Duration? {
    tries += 1
    return tries <= Self.pauses ? min(Self.first * (1 << (tries - 1)), Self.longest) : nil
  }

  var isFirst: Bool { tries == 1 }
}
