import Glibc
import SluiceSupport

/// The threads and descriptors of a process at one moment, for comparison with an earlier state.
struct ProcessState: Equatable {
  /// The descriptors; nil if they cannot be listed because no descriptor is free.
  private let descriptors: [Int: String]?
  private let threads: [Int: String]

  init() {
    descriptors = Self.entries("/proc/self/fd") { Self.link("/proc/self/fd/\($0)") }
    threads = Self.entries("/proc/self/task") { Self.text("/proc/self/task/\($0)/comm") } ?? [:]
  }

  /// The state at the beginning of a check.
  /// - Throws: a failure that skips the check if the state cannot be read.
  static func first() throws(TrialFailure) -> ProcessState {
    guard access("/proc/self/fd", F_OK) == 0 else {
      throw .skip("/proc is not mounted, so threads and descriptors cannot be counted")
    }
    return ProcessState()
  }

  /// Names the threads and descriptors that were added since the earlier state; nil if none were added.
  func added(since earlier: ProcessState, besides path: String? = nil) -> String? {
    guard let descriptors = descriptors?.filter({ earlier.descriptors?[$0.key] == nil && $0.value != path }) else {
      return "as many descriptors as it could get"
    }
    let threads = threads.filter { earlier.threads[$0.key] == nil && !Self.isOfRuntime($0.value) }
    var parts: [String] = []
    if !descriptors.isEmpty { parts.append(Self.words("descriptor", Array(descriptors.values))) }
    if !threads.isEmpty { parts.append(Self.words("thread", Array(threads.values))) }
    return parts.isEmpty ? nil : parts.joined(separator: " and ")
  }

  /// Waits, up to the limit, until added threads and descriptors are gone, because threads take a moment to end.
  static func settled(
    since earlier: ProcessState, besides path: String? = nil, within limit: Duration = .seconds(2)
  ) -> String? {
    for _ in 0..<max(1, Int(limit / .milliseconds(5))) {
      guard ProcessState().added(since: earlier, besides: path) != nil else { return nil }
      usleep(5000)
    }
    return ProcessState().added(since: earlier, besides: path)
  }

  /// Threads of Swift's task pool do not count: the pool starts with the first task, and stays until the process ends.
  private static func isOfRuntime(_ name: String) -> Bool {
    name.hasPrefix("DispatchWorker") || name.hasPrefix("Dispatch") || name.hasPrefix("swift")
  }

  private static func words(_ noun: String, _ names: [String]) -> String {
    let shown = names.sorted().prefix(3).joined(separator: ", ")
    return "\(names.count) \(noun)\(names.count == 1 ? "" : "s") (\(shown)\(names.count > 3 ? " …" : ""))"
  }

  private static func entries(_ folder: String, _ describe: (Int) -> String) -> [Int: String]? {
    guard let directory = opendir(folder) else { return nil }
    defer { closedir(directory) }
    var found: [Int: String] = [:]
    let own = Int(dirfd(directory))
    let isDescriptors = folder.hasSuffix("/fd")
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let number = Int(name), !(isDescriptors && number == own) else { continue }
      found[number] = describe(number)
    }
    return found
  }

  private static func link(_ path: String) -> String { SymbolicLink.target(path) ?? "?" }

  private static func text(_ path: String) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "?" }
    defer { close(file) }
    return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
      let count = read(file, buffer.baseAddress, buffer.count)
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<max(count, 0)])
      return String(decoding: bytes.filter { $0 >= 0x20 }, as: UTF8.self)
    }
  }
}
