import CLinux
import Glibc
import SluiceSupport

/// Reports changes of files with inotify(7) on a separate thread. The files are given by paths, which can contain
/// symbolic links.
///
/// It watches folders instead of files, because a watch on a file ends when the file is replaced.
final class InotifyWatch: Sendable {
  enum Subject: Hashable, Sendable {
    /// The file that a path leads to, through all links.
    case file(String)
    /// The sources at a path, or below it.
    case tree(String)

    /// How long a subject must stay unchanged before it counts as complete. For a file, the time is short: it covers
    /// tools such as strip(1), which change a file again after it was closed. For sources it is longer, because several
    /// files are often saved together.
    var silence: Duration {
      switch self {
      case .file: .milliseconds(20)
      case .tree: .milliseconds(50)
      }
    }
  }

  private static let mask = UInt32(
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
      | IN_ONLYDIR)

  private let descriptor: CInt
  private let state: Locked<WatchTable>
  private let listener: @Sendable (Set<Subject>) -> Void

  /// - Parameter listener: called for each batch of changes, on the thread of this watch.
  init(_ listener: @escaping @Sendable (Set<Subject>) -> Void) throws(CommandError) {
    descriptor = inotify_init1(CInt(IN_CLOEXEC))
    guard descriptor >= 0 else {
      throw CommandError(
        .failed, "cannot watch files: \(String(cString: strerror(errno))); see fs.inotify.max_user_instances")
    }
    self.listener = listener
    let notifier = descriptor
    state = Locked(
      WatchTable(
        add: { inotify_add_watch(notifier, $0, Self.mask) }, remove: { _ = inotify_rm_watch(notifier, $0) }))
    try SystemThread.begin("sluice-watch") { [self] in readAll() }.detach()
  }

  /// Watches only these subjects from now on. Can be called on any thread.
  /// - Returns: why a folder could not be watched; nil if all folders are watched.
  func watch(_ subjects: Set<Subject>) -> String? {
    state.withLock { table in
      table.replace(subjects)
      return table.failure.map { folder, number in
        let advice = number == ENOSPC ? "; raise fs.inotify.max_user_watches" : ""
        return "cannot watch \(folder): \(String(cString: strerror(number)))\(advice)"
      }
    }
  }

  /// Reads events until the process ends.
  private func readAll() {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 8)
    defer { buffer.deallocate() }
    while true {
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      let events = WatchEvent.all(in: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      let changed = state.withLock { $0.changes(events) }
      if !changed.isEmpty { listener(changed) }
    }
  }
}

/// One event of inotify.
struct WatchEvent {
  let watch: Int32
  let mask: UInt32
  /// Empty if the event is about the folder itself.
  let name: String

  func has(_ bits: Int32...) -> Bool { bits.contains { mask & UInt32(bitPattern: $0) != 0 } }

  static func all(in bytes: UnsafeRawBufferPointer) -> [WatchEvent] {
    let headBytes = MemoryLayout<inotify_event>.size
    var events: [WatchEvent] = []
    var offset = 0
    while offset + headBytes <= bytes.count {
      let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
      let end = min(offset + headBytes + Int(event.len), bytes.count)
      // The name is padded with NUL bytes.
      let name = bytes[(offset + headBytes)..<end].prefix { $0 != 0 }
      events.append(WatchEvent(watch: event.wd, mask: event.mask, name: String(decoding: name, as: UTF8.self)))
      offset = end
    }
    return events
  }
}
