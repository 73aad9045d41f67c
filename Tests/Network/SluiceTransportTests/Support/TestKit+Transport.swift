import Glibc
import SluiceTestKit
import SluiceTestServers

extension NginxConfiguration {
  static func serving(bigFileBytes: Int) -> NginxConfiguration {
    var configuration = NginxConfiguration()
    configuration.bigFileBytes = bigFileBytes
    return configuration
  }
}

extension ProcessFacts {
  /// The files and sockets to which this process's descriptors refer.
  static var openFiles: [String] {
    FileTree.names(in: "/proc/self/fd").compactMap { name in
      withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
        guard let start = buffer.baseAddress else { return nil }
        let count = readlink("/proc/self/fd/\(name)", start.assumingMemoryBound(to: CChar.self), buffer.count)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
      }
    }
  }

  static func threads(named name: String) -> Int {
    FileTree.names(in: "/proc/self/task").count { thread in
      (try? FileTree.readText("/proc/self/task/\(thread)/comm")) == name + "\n"
    }
  }
}
