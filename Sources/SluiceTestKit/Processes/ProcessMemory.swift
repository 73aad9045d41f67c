import CTestKit
import Glibc

/// Facts and actions of this process's allocator, for tests.
package enum ProcessMemory {
  /// The bytes that were allocated and not freed; a leak makes them grow. Resident memory also contains what the
  /// allocator keeps for later.
  package static var allocatedBytes: Int { Int(sluice_test_allocated_bytes()) }

  /// For tests that show that code allocates nothing: in a process without memory, any allocation fails.
  ///
  /// Lowers the limit of memory to zero, then allocates every byte that the allocator still has. For the child process
  /// of an exit test.
  package static func exhaust() {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    var taken: UnsafeMutableRawPointer?
    var size = 1 << 24
    while size >= 8 {
      while let block = malloc(size) {
        // Each block stores the address of the previous one, so that the optimizer cannot remove the calls.
        block.storeBytes(of: taken, as: UnsafeMutableRawPointer?.self)
        taken = block
      }
      size /= 2
    }
    if taken == nil { abort() }
  }
}
