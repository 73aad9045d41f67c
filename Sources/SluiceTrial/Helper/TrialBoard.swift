import Glibc

/// One word of memory that the child of a trial shares with its supervisor. With it, the child can report that the
/// library's code has closed the descriptors of the child.
///
/// Unchecked, because the word is written and read as a whole, by one thread in each process.
package struct TrialBoard: @unchecked Sendable {
  private let word: UnsafeMutableRawPointer

  /// Must be called before the child is created. The memory is kept until the process ends.
  init?() {
    let flags = MAP_SHARED | MAP_ANONYMOUS
    guard let word = mmap(nil, 64, PROT_READ | PROT_WRITE, flags, -1, 0), word != MAP_FAILED else { return nil }
    self.word = word
  }

  /// Sets the word. Called in the child when the descriptor of its channel no longer refers to the pipe.
  func noteLostChannel() { word.storeBytes(of: 1, as: UInt32.self) }

  /// Whether the child has set the word. The supervisor reads this when the child has ended.
  var hasLostChannel: Bool { word.load(as: UInt32.self) != 0 }
}
