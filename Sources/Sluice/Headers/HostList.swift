import SluiceMessages

/// Which origins may see our headers. Nothing but a parsed origin is looked at, never the text of a URL.
struct HostList: Sendable {
  var patterns: [HostPattern] = []
  /// One origin exactly, scheme and port included.
  var origin: Origin?

  func contains(_ origin: Origin) -> Bool {
    if self.origin == origin { return true }
    for pattern in patterns where pattern.matches(origin) { return true }
    return false
  }
}
