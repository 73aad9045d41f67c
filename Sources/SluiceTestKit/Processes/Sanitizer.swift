import Glibc

/// Whether the tests run under a sanitizer, which `make check-asan` and `make check-tsan` set in `SLUICE_SANITIZER`.
///
/// Freed memory then stays resident for a while, and the allocator ends a process that runs out of memory.
package enum Sanitizer {
  package static let isOn = getenv("SLUICE_SANITIZER") != nil

  /// The status of a process that a constructor of a library ended with 42. The thread sanitizer replaces it by its own
  /// status, because the `dlopen` that it watches never returns.
  package static var statusOfExitWhileLoading: Int {
    getenv("SLUICE_SANITIZER").map { strcmp($0, "thread") } == 0 ? 66 : 42
  }
}
