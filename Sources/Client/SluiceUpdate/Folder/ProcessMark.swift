import Glibc
import SluiceSupport
import SluiceUpdateRules

/// Identifies a process, so that it is not confused with a later process that has the same number.
struct ProcessMark: Hashable, Sendable {
  let pid: Int64
  /// The start of the process, in clock ticks since the machine started.
  let began: Int64
  /// The id of the machine's start, which changes with each start.
  let boot: String

  /// This process.
  static let current = ProcessMark(of: Int64(getpid())) ?? ProcessMark(pid: Int64(getpid()), began: 0, boot: bootID)

  init(pid: Int64, began: Int64, boot: String) {
    self.pid = pid
    self.began = began
    self.boot = boot
  }

  /// Reads the mark of a process; nil if there is no such process.
  private init?(of pid: Int64) {
    // A process that has ended does not count. It keeps its entry in /proc until its parent has collected its status,
    // which might never happen.
    guard let record = Int32(exactly: pid).flatMap({ ProcessRecord(of: $0) }), !["Z", "X"].contains(record.state),
      let began = Int64(exactly: record.startTicks)
    else { return nil }
    self.init(pid: pid, began: began, boot: Self.bootID)
  }

  /// Whether the machine has been started again after the process began.
  var isOfEarlierBoot: Bool { boot != Self.bootID }

  var isRunning: Bool { ProcessMark(of: pid) == self }

  private static let bootID = SystemBoot.id ?? ""
}
