import Glibc

/// What the kernel says about a process in `/proc/PID/stat` (proc(5)).
package struct ProcessRecord {
  /// The state as a letter. `Z` means that the process has ended and was not waited for, or that only its first thread
  /// has ended.
  package let state: Character
  package let parent: Int32
  /// The number of threads that have not ended. The first thread counts even if it has ended.
  package let threadCount: Int
  /// The start of the process, in clock ticks since the machine started.
  package let startTicks: UInt64

  /// Reads the record of a process; nil if there is no such process, or if it is hidden from this process.
  package init?(of process: Int32) {
    guard let file = FileDescriptor(opening: "/proc/\(process)/stat", O_RDONLY),
      let bytes = file.readAll(capacity: 4096), let nameEnd = bytes.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    // Field 3, the state, follows the name, which may have blanks and parentheses.
    let fields = String(decoding: bytes[(nameEnd + 1)...], as: UTF8.self).split(separator: " ")
    guard fields.count > 19, let state = fields[0].first, let parent = Int32(fields[1]),
      let threadCount = Int(fields[17]), let startTicks = UInt64(fields[19])
    else { return nil }
    self.state = state
    self.parent = parent
    self.threadCount = threadCount
    self.startTicks = startTicks
  }
}
