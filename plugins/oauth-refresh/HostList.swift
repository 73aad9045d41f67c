import struct SluiceMessages.HTTPURL
import struct SluiceMessages.HostPattern
import SluicePlugin

/// The hosts that may get the token.
struct HostList: Sendable {
  private let patterns: [HostPattern]

  init(_ hosts: [String]) throws(PluginFailure) {
    var patterns: [HostPattern] = []
    for (index, host) in hosts.enumerated() {
      guard let pattern = try? HostPattern(host) else {
        throw PluginFailure(
          message: "config key \"hosts[\(index)]\": expected a host, *.suffix or *, with an optional https:// before "
            + "and :port after it, found \"\(host)\"")
      }
      patterns.append(pattern)
    }
    guard !patterns.isEmpty else {
      throw PluginFailure(
        message: "config key \"hosts\": expected at least one host that may get the token; \"*\" allows every host")
    }
    self.patterns = patterns
  }

  /// Looks at the origin of the URL and at nothing else.
  func allow(_ url: String) -> Bool {
    guard let origin = (try? HTTPURL(url))?.origin else { return false }
    return patterns.contains { $0.matches(origin) }
  }
}
