import CTestKit
import Glibc

/// What tests ask of the allocator of this process.
package enum ProcessMemory {
  /// What was allocated and not freed: what a leak adds to. Resident memory also has what the allocator keeps for later.
  package static var allocatedBytes: Int { Int(sluice_test_allocated_bytes()) }

  /// For tests that show that something allocates nothing: in a process without memory, whatever allocates dies.
  ///
  /// Takes the limit for new memory away, then every byte that the allocator still has. For the child of an exit test.
  package static func exhaust() {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    var taken: UnsafeMutableRawPointer?
    var size = 1 << 24
    while size >= 8 {
      while let block = malloc(size) {
        // Chained, so that the optimizer cannot leave the calls out.
        block.storeBytes(of: taken, as: UnsafeMutableRawPointer?.self)
        taken = block
      }
      size /= 2
    }
    if taken == nil { abort() }
  }
}
