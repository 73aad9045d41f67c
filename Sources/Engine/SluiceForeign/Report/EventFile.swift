import Glibc
package import SluiceAssembly
import SluiceMessages
import SluicePipeline
import SluiceSupport
import Synchronization

/// The events of one process, in a file of its own. They are written at the end of each transfer. The file is opened
/// each time: the program may close a descriptor that it did not open, and use its number for something else.
package final class EventFile: Sendable {
  /// A file that is longer than this is renamed to `events-PID.1.jsonl`, which replaces an earlier file of that name.
  private static let limitBytes = 64 << 20
  /// While events cannot be written, they are kept up to this size. Further events are dropped.
  private static let heldBytes = 1 << 20

  private let path: String
  private let held = Locked<[UInt8]>([])
  private let hasFailed = Atomic<Bool>(false)

  /// - Parameter folder: the folder in which the file `events-PID.jsonl` is created.
  package init(in folder: String) { path = "\(folder)/events-\(getpid())" }

  /// Adds the tracer that takes the events, as the last tracer of the configuration.
  package func append(to configuration: inout Configuration) {
    let secrets = configuration.secrets
    let code = StageCode(isTrusted: true) { [self] in add(EventLine.make($0, secrets)) }
    configuration.addStage("--events", code)
  }

  private func add(_ line: [UInt8]) {
    held.withLock { if $0.count + line.count <= Self.heldBytes { $0 += line } }
  }

  /// Writes the events. At the first failure, returns the reason; otherwise returns nil. Events that were not written
  /// are kept for the next call, as far as there is room.
  package func flush() -> String? {
    held.withLock { held in
      guard !held.isEmpty else { return nil }
      let name = "\(path).jsonl"
      let flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK
      guard let file = FileDescriptor(opening: name, flags, mode: 0o600), file.writeAll(held) else {
        let reason = SystemError.text()
        return hasFailed.exchange(true, ordering: .relaxed)
          ? nil : "\(name) cannot be written: \(reason); the file is incomplete"
      }
      held.removeAll(keepingCapacity: true)
      if let status = file.status(), status.st_size > Self.limitBytes { rename(name, "\(path).1.jsonl") }
      return nil
    }
  }
}
