import Glibc

/// One word of memory that the child of a trial shares with its supervisor: what it can still say when the library's code has
/// closed its descriptors.
///
/// Unchecked: the word is written and read as a whole, by one thread of each process.
package struct TrialBoard: @unchecked Sendable {
  private let word: UnsafeMutableRawPointer

  /// Before the child is made. Kept for the life of the process.
  init?() {
    let flags = MAP_SHARED | MAP_ANONYMOUS
    guard let word = mmap(nil, 64, PROT_READ | PROT_WRITE, flags, -1, 0), word != MAP_FAILED else { return nil }
    self.word = word
  }

  /// In the child: the channel is not what it was.
  func noteLostChannel() { word.storeBytes(of: 1, as: UInt32.self) }

  /// In the supervisor, when the child has ended.
  var hasLostChannel: Bool { word.load(as: UInt32.self) != 0 }
}
