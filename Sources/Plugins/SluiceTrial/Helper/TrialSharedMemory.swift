import Glibc
import SluiceSupport

/// Two words of memory that the child of a trial shares with its supervisor. With the first, the child can report that
/// the library's code has closed the descriptors of the child; with the second, that the machine did not let the child
/// begin.
///
/// Unchecked, because each word is written and read as a whole, by one thread in each process.
package struct TrialSharedMemory: @unchecked Sendable {
  /// What the child needs before the library is loaded.
  enum Need: UInt32 { case limits = 1, thread }

  private let words: UnsafeMutableRawPointer

  /// Must be called before the child is created. The memory is kept until the process ends.
  init?() {
    let flags = MAP_SHARED | MAP_ANONYMOUS
    guard let words = mmap(nil, 64, PROT_READ | PROT_WRITE, flags, -1, 0), words != MAP_FAILED else { return nil }
    self.words = words
  }

  /// Sets the first word. Called in the child when the descriptor of its channel no longer refers to the pipe.
  func noteLostChannel() { words.storeBytes(of: 1, as: UInt32.self) }

  /// Whether the child has set the first word. The supervisor reads this when the child has ended.
  var hasLostChannel: Bool { words.load(as: UInt32.self) != 0 }

  /// Sets the second word. Called in the child.
  ///
  /// - Parameter code: the system's error.
  func noteMissing(_ need: Need, _ code: CInt) {
    words.storeBytes(of: need.rawValue << 16 | UInt32(clamping: code), toByteOffset: 4, as: UInt32.self)
  }

  /// Why the child could not begin; nil if it has not said so. The supervisor reads this when the child has ended.
  var hindrance: String? {
    let word = words.load(fromByteOffset: 4, as: UInt32.self)
    let reason = SystemError.text(CInt(word & 0xFFFF))
    return switch Need(rawValue: word >> 16) {
    case .limits: "the limits of its process could not be set: \(reason)"
    case .thread: "no thread could be started"
    case nil: nil
    }
  }
}
