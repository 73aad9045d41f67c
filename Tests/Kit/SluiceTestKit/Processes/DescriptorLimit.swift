import Glibc

/// The maximum number of descriptors for this process and for processes that it starts.
package enum DescriptorLimit {
  /// Raises the limit as far as allowed, even past the hard limit if the process is privileged. Returns the new limit.
  @discardableResult
  package static func raise(to wanted: Int) -> Int {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    if limit.rlim_cur >= rlim_t(wanted) { return Int(limit.rlim_cur) }
    let steps = [
      rlimit(rlim_cur: rlim_t(wanted), rlim_max: max(limit.rlim_max, rlim_t(wanted))),
      rlimit(rlim_cur: min(rlim_t(wanted), limit.rlim_max), rlim_max: limit.rlim_max),
    ]
    for var step in steps where setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &step) == 0 {
      return Int(step.rlim_cur)
    }
    return Int(limit.rlim_cur)
  }
}
