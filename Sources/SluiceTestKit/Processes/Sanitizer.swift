import Glibc

/// Whether the tests run under a sanitizer, as `make check-asan` and `make check-tsan` say by `SLUICE_SANITIZER`.
///
/// Freed memory then stays resident for a while, and the allocator ends a process that runs out of it.
public enum Sanitizer {
  public static let isOn = getenv("SLUICE_SANITIZER") != nil
}
