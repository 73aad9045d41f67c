import Glibc

/// The kernel's counts for a process, by default for this one.
package struct ProcessFacts: Sendable {
  private let folder: String

  package init(of process: Int32? = nil) {
    folder = process.map { "/proc/\($0)" } ?? "/proc/self"
  }

  /// Resident memory; nil when the process is gone.
  package var residentBytes: Int? {
    guard let fields = try? FileTree.readText("\(folder)/statm").split(separator: " "), fields.count > 1 else {
      return nil
    }
    return Int(fields[1]).map { $0 * sysconf(Int32(_SC_PAGESIZE)) }
  }

  /// The largest resident memory so far; nil when the process is gone.
  package var peakResidentBytes: Int? {
    guard let status = try? FileTree.readText("\(folder)/status") else { return nil }
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) }
      .map { $0 * 1024 }
  }

  /// The number of open descriptors, without the descriptor that is needed for counting.
  package var openDescriptorCount: Int {
    FileTree.names(in: "\(folder)/fd").count - (folder == "/proc/self" ? 1 : 0)
  }

  /// The open descriptors: for each kind or file, the number of descriptors.
  package var openFiles: [String: Int] {
    FileTree.names(in: "\(folder)/fd").reduce(into: [:]) { files, name in
      var target = [UInt8](repeating: 0, count: 4096)
      let count = target.withUnsafeMutableBufferPointer { buffer in
        buffer.withMemoryRebound(to: CChar.self) { chars in
          chars.baseAddress.map { readlink("\(folder)/fd/\(name)", $0, chars.count) } ?? 0
        }
      }
      guard count > 0 else { return }
      let text = String(decoding: target.prefix(count), as: UTF8.self)
      files[text.split(separator: ":[").first.map { String($0) } ?? text, default: 0] += 1
    }
  }

  package var threadCount: Int { FileTree.names(in: "\(folder)/task").count }
}
