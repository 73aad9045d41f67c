import Glibc
import SluiceSupport
import SluiceUpdateRules

/// Names a process so that it is not confused with a later process that has the same number.
struct ProcessMark: Hashable, Sendable {
  let pid: Int64
  /// When the process began, in ticks of the clock since the machine started.
  let began: Int64
  /// Changes with each start of the machine.
  let boot: String

  /// This process.
  static let current = ProcessMark(of: Int64(getpid())) ?? ProcessMark(pid: Int64(getpid()), began: 0, boot: bootID)

  init(pid: Int64, began: Int64, boot: String) {
    self.pid = pid
    self.began = began
    self.boot = boot
  }

  /// Nil if there is no such process.
  private init?(of pid: Int64) {
    guard let text = Self.text("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")") else { return nil }
    // proc(5): the start time is field 22; field 3, the state, follows the name, which can have blanks.
    let fields = text[text.index(after: end)...].split(separator: " ")
    // An ended process keeps its entry until its parent has collected its status, which might never happen.
    guard fields.count > 19, !["Z", "X"].contains(fields[0]), let began = Int64(fields[19]) else { return nil }
    self.init(pid: pid, began: began, boot: Self.bootID)
  }

  /// Whether the machine has been started again since that process began.
  var isOfEarlierBoot: Bool { boot != Self.bootID }

  var isRunning: Bool { ProcessMark(of: pid) == self }

  private static let bootID = text("/proc/sys/kernel/random/boot_id").map { String($0.prefix(36)) } ?? ""

  private static func text(_ path: String) -> String? {
    guard let file = FileDescriptor(opening: path, O_RDONLY), let bytes = file.readAll(capacity: 4096) else {
      return nil
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
