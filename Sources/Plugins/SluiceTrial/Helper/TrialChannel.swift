import Glibc
package import SluiceJSON

/// Reports a trial's current step and its results to the supervisor. It is used in the child process, by one thread at
/// a time.
package struct TrialChannel: Sendable {
  private let descriptor: CInt
  private let memory: TrialSharedMemory
  /// Identifies the pipe, because the descriptor's number might refer to another file later.
  private let inode: ino_t?

  init(descriptor: CInt, memory: TrialSharedMemory) {
    self.descriptor = descriptor
    self.memory = memory
    inode = Self.inode(of: descriptor)
  }

  /// Reports the next step, as the end of a sentence: `while it was loaded`. If the process ends during this step, the
  /// report names it.
  package func step(_ words: String) { write(["step": JSONValue(words)]) }

  /// Reports the result of one part of the task. The supervisor keeps the results of all parts.
  package func report(_ item: JSONValue) { write(["item": item]) }

  /// Reports the final result. If it is called again, the last result counts.
  package func finish(_ result: JSONValue) { write(["result": result]) }

  private func write(_ document: JSONValue) {
    guard Self.inode(of: descriptor) == inode else { lose() }
    guard let text = try? document.serialized() else { return }
    let line = text + [UInt8(ascii: "\n")]
    var written = 0
    while written < line.count {
      let step = line.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress.map { $0 + written }, line.count - written)
      }
      if step < 0, errno == EINTR { continue }
      guard step > 0 else { return }
      written += step
    }
  }

  private static func inode(of descriptor: CInt) -> ino_t? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? status.st_ino : nil
  }

  /// Ends the process. Called when code of the library has closed a descriptor of the host, such as the channel's: the
  /// loops of this process might have lost their descriptors too.
  func lose() -> Never {
    memory.noteLostChannel()
    _exit(1)
  }
}
