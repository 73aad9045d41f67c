import Glibc

/// The maximum number of descriptors that this process can have open. Each connection needs a descriptor.
package struct DescriptorLimit: Sendable, Hashable {
  /// The current limits.
  package var soft: Int
  /// The value up to which an unprivileged process may raise `soft`.
  package var hard: Int

  /// The number of descriptors that connections must leave free for other code of the process.
  ///
  /// libdispatch is an example of such code. While work waits for its threads, it reads a file in /proc every second,
  /// and it ends the process if it cannot open that file.
  package static let reserve = 16

  /// Whether a descriptor is one of the last ones below the limit, which are reserved.
  ///
  /// The number of the descriptor shows this, because the kernel always gives the lowest free number. If the limit is
  /// below 64, only a quarter of the limit is reserved.
  package static func isReserved(_ descriptor: Int32) -> Bool {
    // The first 16 descriptors are never reserved: a process cannot work with fewer.
    guard descriptor >= 16 else { return false }
    let limit = current.soft
    return Int(descriptor) >= limit - min(reserve, limit / 4)
  }

  package static var current: DescriptorLimit {
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return DescriptorLimit(soft: 1024, hard: 1024) }
    return DescriptorLimit(soft: Int(clamping: limit.rlim_cur), hard: Int(clamping: limit.rlim_max))
  }

  /// Raises the limit to `needed`, or as far as possible. Never lowers the limit.
  /// - Returns: the limits afterwards. `soft` is below `needed` if the limit could not be raised enough.
  @discardableResult
  package static func raise(to needed: Int) -> DescriptorLimit {
    let before = current
    guard before.soft < needed else { return before }
    var limit = rlimit(rlim_cur: rlim_t(min(needed, before.hard)), rlim_max: rlim_t(before.hard))
    if before.hard == Int.max { limit.rlim_max = rlim_t.max }
    setrlimit(resource, &limit)
    return current
  }

  private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
}
