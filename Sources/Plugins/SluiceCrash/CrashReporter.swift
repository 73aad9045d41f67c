import CLinux
import Glibc
public import SluiceMessages
import SluiceSupport

/// Makes this process leave a record when it crashes. ``CrashReport`` reads the record.
///
/// It is meant for a process that runs untested builds, such as the engine under `sluice dev`. No handler is installed
/// unless the program asks for it. The process is still ended by the same signal, with the same exit status and core
/// dump. Handlers that were installed before, such as those of `SWIFT_BACKTRACE`, run after the record is written.
/// docs/decisions/crash-reports.md describes what the handler does, and why that is safe.
public enum CrashReporter {
  /// Why a process cannot leave records of its crashes.
  public struct Unavailable: DescribedError, Sendable, Hashable {
    /// One sentence without a full stop: `crashes leave no record: …`, with the reason.
    public let description: String
  }

  /// The limit is long enough for a busy disk.
  public static let limit = Duration.seconds(10)

  /// Writes crash records to a descriptor: a pipe or a socket that another process reads, or a file. The descriptor
  /// must stay open. A second call replaces the descriptor.
  ///
  /// Must be called before the engine is created. A thread can report a stack overflow only if its first call of a
  /// plugin comes after this call.
  ///
  /// - Parameter limit: the process ends at most this long after a crash, even if its record is incomplete.
  public static func install(descriptor: Int32, limit: Duration = Self.limit) throws(Unavailable) {
    let milliseconds = UInt32(clamping: limit.nanoseconds / 1_000_000)
    guard sluice_install_crash_handler(descriptor, milliseconds) == 0 else {
      let reason = errno == ENOTSUP ? "a sanitizer handles crashes itself" : SystemError.text()
      throw Unavailable(description: "crashes leave no record: \(reason)")
    }
  }

  /// Writes crash records to a file, which is created with mode 0600, or emptied. The file stays empty if the process
  /// does not crash. A pipe or a device is written where it is; a FIFO must have a reader already.
  public static func install(path: String, limit: Duration = Self.limit) throws(Unavailable) {
    let descriptor = OutputTarget.open(
      path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, mode: 0o600, limit: .zero)
    guard descriptor >= 0 else {
      let reason = errno == ENXIO ? "it is a pipe without a reader, or a socket" : SystemError.text()
      throw Unavailable(description: "crashes leave no record: \(PlainText.path(path)) cannot be written: \(reason)")
    }
    do { try install(descriptor: descriptor, limit: limit) } catch {
      close(descriptor)
      throw error
    }
  }
}
