import Glibc
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

/// The content of a library that differs from the serving build.
struct LibraryReading: Sendable {
  let image: LibraryImage
  let facts: LibraryFacts
  private let file: String

  /// Returns nil if the content has the given hash. Throws if this host cannot use the library, or if the file is
  /// incomplete.
  init?(
    _ file: String, of library: String, _ known: ContentHash?, _ store: PluginStoreAccess,
    _ allowed: Set<LibraryHazard>
  ) throws(PluginError) {
    self.file = file
    image = try LibraryImage(reading: file, as: library)
    if image.hash == known { return nil }
    facts = try store.loader().facts(of: image, allowing: allowed)
  }

  /// Whether the file's content has changed since it was read. If so, the file might have been incomplete at that time.
  /// Blocks.
  var hasChangedSince: Bool {
    do throws(PluginError) { return try LibraryImage(reading: file).hash != image.hash } catch {
      return error.mayBeBeingWritten
    }
  }

  /// A file whose last write is at least this long ago counts as finished, even if it is invalid.
  private static let restMilliseconds = 500

  /// Whether the error might disappear because the file is still being written. A build tool can write the parts of a
  /// file in any order, and the file is then invalid until the last part is written.
  static func mayPass(_ error: PluginError, _ file: String) -> Bool {
    if error.mayBeBeingWritten { return true }
    var status = stat()
    var now = timespec()
    guard stat(SystemPath.of(file), &status) == 0, clock_gettime(CLOCK_REALTIME, &now) == 0 else { return true }
    let modified = status.st_mtim
    // A time in the future comes from another clock, so the age is not known.
    guard modified.tv_sec <= now.tv_sec else { return true }
    // The times are compared before they are subtracted, because a file can have any time, and the difference could
    // overflow.
    guard modified.tv_sec >= now.tv_sec - restMilliseconds / 1000 - 1 else { return false }
    let age = (now.tv_sec - modified.tv_sec, now.tv_nsec - modified.tv_nsec)
    return age.0 * 1000 + age.1 / 1_000_000 < restMilliseconds
  }
}

/// Decides how often a file is read again, and after which pauses, if it is missing or being written.
struct ReadingPatience {
  /// Eight reads within two seconds.
  static let swap = ReadingPatience(pauses: 7)
  static let none = ReadingPatience(pauses: 0)

  private let pauses: Int
  private var tries = 0
  private static let (first, longest) = (Duration.milliseconds(25), Duration.milliseconds(600))

  private init(pauses: Int) { self.pauses = pauses }

  mutating func next() -> Duration? {
    tries += 1
    return tries <= pauses ? min(Self.first * (1 << (tries - 1)), Self.longest) : nil
  }

  var isFirst: Bool { tries == 1 }
}
