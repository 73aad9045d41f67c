import Glibc
import SluiceSupport

/// The file in the folder of a `sluice attach` that tells later commands which process made it. The command keeps it
/// locked (flock(2)); the kernel releases the lock when the command ends, for whatever reason.
struct AttachMark: Equatable {
  static let name = "command"
  private static let temporaryName = "command.new"
  private static let limitBytes = 8192

  /// The id of the boot, which changes each time the machine starts.
  private let boot: String
  /// Identifies the PID namespace, because programs in another container cannot be seen in `/proc`.
  private let namespace: String
  /// When the command began, in clock ticks since the machine started. Programs under it began later.
  let startTicks: UInt64
  /// The path of the library that programs under it have mapped.
  let library: String

  /// The mark of this process; nil if `/proc` does not provide these facts.
  init?(library: String) {
    guard let record = ProcessRecord(of: getpid()), let here = Self.here, let library = Paths.resolved(library) else {
      return nil
    }
    (boot, namespace) = here
    startTicks = record.startTicks
    self.library = library
  }

  init?(reading file: borrowing FileDescriptor) {
    guard let bytes = file.readAll(capacity: Self.limitBytes) else { return nil }
    let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
    guard words.count == 4, let startTicks = UInt64(words[2]), words[3].hasPrefix("/") else { return nil }
    (boot, namespace, self.startTicks, library) = (words[0], words[1], startTicks, words[3])
  }

  /// Whether programs under that command would be visible to this process.
  var isHere: Bool { Self.here.map { $0 == (boot, namespace) } ?? false }

  /// Creates the file. The file gets its name only after it is locked. A process that finds it unlocked thus knows that
  /// its command has ended.
  /// - Returns: the file, which must be kept open.
  func write(in folder: String) -> FileDescriptor? {
    let name = "\(folder)/\(Self.temporaryName)"
    let text = "\(boot) \(namespace) \(startTicks) \(library)\n"
    guard let file = FileDescriptor(opening: name, O_RDWR | O_CREAT | O_EXCL, mode: 0o600),
      flock(file.raw, LOCK_EX | LOCK_NB) == 0, file.writeAll(Array(text.utf8)),
      rename(name, "\(folder)/\(Self.name)") == 0
    else { return nil }
    return file
  }

  private static var here: (boot: String, namespace: String)? {
    var status = stat()
    guard let boot = SystemBoot.id, stat("/proc/self/ns/pid", &status) == 0 else { return nil }
    return (boot, "\(status.st_dev):\(status.st_ino)")
  }
}
