import CTestKit
import Glibc

/// Facts and actions of this process's allocator, for tests.
package enum ProcessMemory {
  /// The number of bytes that were allocated and not freed. A leak makes it grow. Resident memory would be less exact,
  /// because it also contains freed memory that the allocator keeps.
  package static var allocatedBytes: Int { Int(sluice_test_allocated_bytes()) }

  /// Makes Swift Testing keep no more backtraces of errors. It keeps one for each thrown error, and frees it only when
  /// the test has ended, so a test that throws many errors would seem to leak. Call it only in the child process of an
  /// exit test.
  package static func keepNoBacktraces() { sluice_test_keep_no_backtraces() }

  /// Makes every further allocation of the process fail, for tests that show that code allocates nothing.
  ///
  /// Lowers the limit of memory to zero, then allocates every byte that the allocator still has. Call it only in the
  /// child process of an exit test.
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
