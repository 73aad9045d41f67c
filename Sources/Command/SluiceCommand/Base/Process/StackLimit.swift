import Glibc

/// The limit for the stack of the main thread.
enum StackLimit {
  /// With less, the stack can overflow in Swift's runtime, and the command crashes. The largest need that was seen is 80
  /// KiB, in a debug build.
  private static let leastBytes: rlim_t = 128 << 10

  static func check() throws(CommandError) {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &limit) == 0, limit.rlim_cur < leastBytes else {
      return
    }
    throw CommandError(
      .failed,
      "the limit for stacks is \(limit.rlim_cur >> 10) KiB, and the command needs at least \(leastBytes >> 10); raise it with"
        + " ulimit -s")
  }
}
