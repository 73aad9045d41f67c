import struct SluiceMessages.HTTPURL
import struct SluiceMessages.HostPattern
import struct SluiceMessages.MessageError
import SluicePlugin

/// The hosts that may get the token.
struct HostList: Sendable {
  private let patterns: [HostPattern]

  init(_ hosts: [String]) throws(StageFailure) {
    var patterns: [HostPattern] = []
    for (index, host) in hosts.enumerated() {
      do { patterns.append(try HostPattern(host)) } catch {
        throw StageFailure(message: "config key \"hosts[\(index)]\", \(error)")
      }
    }
    guard !patterns.isEmpty else {
      throw StageFailure(
        message: "config key \"hosts\": expected at least one host that may get the token; \"*\" allows every host")
    }
    self.patterns = patterns
  }

  /// Compares only the origin of the URL.
  func allow(_ url: String) -> Bool {
    guard let origin = (try? HTTPURL(url))?.origin else { return false }
    return patterns.contains { $0.matches(origin) }
  }
}
