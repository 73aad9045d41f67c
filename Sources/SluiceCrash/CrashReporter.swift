import CLinux
import Glibc
import SluiceMessages
import SluiceSupport

/// Has this process leave a record when it crashes, from which ``CrashReport`` tells what happened.
///
/// For a process that runs builds nobody has seen work, such as the engine under `sluice dev`; nothing is installed unless it is
/// asked for. What the process would have died of it still dies of, with its exit status and its core dump; handlers that
/// stood there before, such as those of `SWIFT_BACKTRACE`, come after the record. docs/decisions/crash-reports.md says what is
/// done inside of the handler, and why that is safe.
public enum CrashReporter {
  /// Why a process stays without records of its crashes.
  public struct Unavailable: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence without a full stop: `crashes leave no record: …`, with the reason.
    public let description: String
  }

  /// Long enough for a disk that is busy.
  public static let limit = Duration.seconds(10)

  /// Has crashes written to a descriptor, which must stay open: a pipe or a socket that somebody reads, or a file. A second
  /// call exchanges it.
  ///
  /// To be called before the engine is made: only threads that call their first plugin afterwards can tell of a stack overflow.
  ///
  /// - Parameter limit: the process ends so long after a crash in any case, its record whole or not.
  public static func install(descriptor: Int32, limit: Duration = Self.limit) throws(Unavailable) {
    let milliseconds = UInt32(clamping: limit.nanoseconds / 1_000_000)
    guard sluice_install_crash_handler(descriptor, milliseconds) == 0 else {
      let reason = errno == ENOTSUP ? "a sanitizer handles crashes itself" : SystemError.text()
      throw Unavailable(description: "crashes leave no record: \(reason)")
    }
  }

  /// The same with a file of its own: made with 0600, or emptied. It stays empty when nothing happens.
  public static func install(path: String, limit: Duration = Self.limit) throws(Unavailable) {
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW
    let descriptor = open(path, flags, 0o600)
    guard descriptor >= 0 else {
      throw Unavailable(description: "crashes leave no record: \(path) cannot be written: \(SystemError.text())")
    }
    do { try install(descriptor: descriptor, limit: limit) } catch {
      close(descriptor)
      throw error
    }
  }
}
