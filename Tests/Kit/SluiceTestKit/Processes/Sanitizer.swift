import Glibc

/// Whether the tests run under a sanitizer, which `make check-asan` and `make check-tsan` set in `SLUICE_SANITIZER`.
///
/// Freed memory then stays resident for a while, and the allocator ends a process that runs out of memory.
package enum Sanitizer {
  package static let isOn = getenv("SLUICE_SANITIZER") != nil

  /// The exit status of a process in which a library's constructor calls `exit(42)`. The thread sanitizer replaces 42
  /// by its own status, because the `dlopen` that it watches never returns.
  package static var statusOfExitWhileLoading: Int {
    getenv("SLUICE_SANITIZER").map { strcmp($0, "thread") } == 0 ? 66 : 42
  }
}
