import Glibc
import SluiceSupport

/// The programs that use the folder of a `sluice attach`. They have the path of the folder in their environment, and
/// map the page in it at the first transfer.
struct FolderUsers {
  private static let environmentLimitBytes = 8 << 20
  private static let mapsLimitBytes = 32 << 20

  private let name: [UInt8]
  private let startTicks: UInt64
  private let library: [UInt8]

  /// - Parameter name: the name of the folder, which is unique.
  init(of name: String, _ mark: AttachMark) {
    self.name = Array(name.utf8)
    startTicks = mark.startTicks
    library = Array(mark.library.utf8)
  }

  /// Whether a process uses the folder, as far as this process can find out; true if it cannot find out.
  var mayExist: Bool {
    let processes = FolderListing.names(in: "/proc").compactMap { Int32($0) }
    // If there is no entry for this process, `/proc` is not mounted.
    guard processes.contains(getpid()) else { return true }
    return processes.contains { $0 != getpid() && mayUse($0) }
  }

  private func mayUse(_ process: Int32) -> Bool {
    guard let record = running(process), Self.isOfThisUser(process) else { return false }
    // The first thread has ended while others still run. Their memory can no longer be examined through `/proc`.
    if record.state == "Z" { return true }
    // Reads the mappings first: if the process executes another program in between, the environment read afterwards is
    // that of the new program.
    guard let maps = Self.content("/proc/\(process)/maps", Self.mapsLimitBytes),
      let environment = Self.content("/proc/\(process)/environ", Self.environmentLimitBytes)
    else { return running(process) != nil }
    if environment.holds(name) || maps.holds(name) { return true }
    // A program can overwrite its environment in memory and still be attached. An empty environment means that the
    // process has ended in the meantime.
    return maps.holds(library) && !environment.isEmpty && !environment.holds(Self.variable)
  }

  /// The record of a process that began after the command and has not ended; nil for others. A process that has ended has
  /// no memory to examine, but has an entry until its parent asks for its status.
  private func running(_ process: Int32) -> ProcessRecord? {
    guard let record = ProcessRecord(of: process), record.startTicks >= startTicks else { return nil }
    return record.state == "Z" && record.threadCount < 2 ? nil : record
  }

  private static let variable = Array("SLUICE_ATTACH=".utf8)

  /// Only programs of this user are examined, because programs of other users cannot read the folder.
  private static func isOfThisUser(_ process: Int32) -> Bool {
    // The owner of /proc/PID cannot be used, because it is root for every process that is not dumpable (proc(5)).
    guard let text = content("/proc/\(process)/status", 65536) else { return true }
    let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("Uid:") }
    guard let line else { return true }
    return line.split(whereSeparator: \.isWhitespace).dropFirst().contains("\(geteuid())")
  }

  /// The content of a file of a process; nil if it cannot be read completely. It is empty for a process without memory
  /// (ESRCH), that is, a kernel thread or a process that is just ending.
  private static func content(_ path: String, _ limit: Int) -> [UInt8]? {
    guard let file = FileDescriptor(opening: path, O_RDONLY), let bytes = file.readAll(capacity: limit) else {
      return errno == ESRCH ? [] : nil
    }
    return bytes.count < limit ? bytes : nil
  }
}

extension [UInt8] {
  /// Whether the bytes contain `part`. The search must be fast, because a process can have thousands of mappings.
  fileprivate func holds(_ part: [UInt8]) -> Bool {
    guard let first = part.first, part.count <= count else { return false }
    return indices.dropLast(part.count - 1).contains {
      self[$0] == first && self[$0..<($0 + part.count)].elementsEqual(part)
    }
  }
}
