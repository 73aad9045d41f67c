import Glibc
import SluiceSupport

/// The programs that use the folder of a `sluice attach`. They have the folder in their environment, and map its page
/// at the first transfer.
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

  /// Whether a process uses the folder, as far as this process can see; true if this cannot be determined.
  var mayExist: Bool {
    let processes = FolderListing.names(in: "/proc").compactMap { Int32($0) }
    // Without an entry for this process, this is not a mounted `/proc`.
    guard processes.contains(getpid()) else { return true }
    return processes.contains { $0 != getpid() && mayUse($0) }
  }

  private func mayUse(_ process: Int32) -> Bool {
    guard let record = running(process), Self.isOfThisUser(process) else { return false }
    // Its first thread has ended, and with it the way to the memory of the others.
    if record.state == "Z" { return true }
    // Reads the mappings first: a process that executes a program in between has its new environment afterwards.
    guard let maps = Self.content("/proc/\(process)/maps", Self.mapsLimitBytes),
      let environment = Self.content("/proc/\(process)/environ", Self.environmentLimitBytes)
    else { return running(process) != nil }
    if environment.holds(name) || maps.holds(name) { return true }
    // A program can overwrite its environment in memory and still be attached. An empty environment means that the
    // process has ended since the first look.
    return maps.holds(library) && !environment.isEmpty && !environment.holds(Self.variable)
  }

  /// The record of a process that began after the command and has not ended; nil for others. A process that has ended has
  /// no memory to examine, but has an entry until its parent asks for its status.
  private func running(_ process: Int32) -> ProcessRecord? {
    guard let record = ProcessRecord(of: process), record.startTicks >= startTicks else { return nil }
    return record.state == "Z" && record.threadCount < 2 ? nil : record
  }

  private static let variable = Array("SLUICE_ATTACH=".utf8)

  /// Only programs of this user are examined, because others cannot read the folder.
  private static func isOfThisUser(_ process: Int32) -> Bool {
    // The owner of /proc/PID cannot be used: it is root for processes that must not be examined.
    guard let text = content("/proc/\(process)/status", 65536) else { return true }
    let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("Uid:") }
    guard let line else { return true }
    return line.split(whereSeparator: \.isWhitespace).dropFirst().contains("\(geteuid())")
  }

  /// Nil if the file cannot be read completely; empty for a process without memory (ESRCH), which is a kernel thread or
  /// a process that is just ending.
  private static func content(_ path: String, _ limit: Int) -> [UInt8]? {
    guard let file = FileDescriptor(opening: path, O_RDONLY), let bytes = file.readAll(capacity: limit) else {
      return errno == ESRCH ? [] : nil
    }
    return bytes.count < limit ? bytes : nil
  }
}

extension [UInt8] {
  /// A search that is faster than a general one, because a process can have thousands of mappings.
  fileprivate func holds(_ part: [UInt8]) -> Bool {
    guard let first = part.first, part.count <= count else { return false }
    return indices.dropLast(part.count - 1).contains {
      self[$0] == first && self[$0..<($0 + part.count)].elementsEqual(part)
    }
  }
}
