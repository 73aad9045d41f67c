/// Host patterns in order, stored so that a URL can be compared with all of them without reference counting.
package struct HostPatternList: Sendable {
  private struct Entry: Sendable {
    let rule: HostPattern.Rule
    /// The index of the pattern's host in ``hosts``.
    let host: Range<Int>
  }

  private var entries: [Entry] = []
  private var hosts: [UInt8] = []

  package init() {}

  package mutating func append(_ pattern: HostPattern) { append(pattern.rule, pattern.host) }

  /// Adds a pattern that matches only this origin, with its scheme and port.
  package mutating func append(_ origin: Origin) {
    append(HostPattern.Rule(scheme: origin.scheme, kind: .exact, port: origin.port), HostPattern.Rule.host(of: origin))
  }

  /// The position of the first pattern that matches the origin of the URL. Positions count the patterns in the order in
  /// which they were added.
  package func firstIndex(matching url: borrowing HTTPURL) -> Int? { firstIndex(url.parts.origin) }

  private func firstIndex(_ origin: borrowing Origin) -> Int? {
    let hosts = hosts.span
    for index in entries.indices {
      let host = entries[index].host
      if entries[index].rule.matches(origin, hosts.extracting(host)) { return index }
    }
    return nil
  }

  private mutating func append(_ rule: HostPattern.Rule, _ host: String) {
    let start = hosts.count
    hosts.append(contentsOf: host.utf8)
    entries.append(Entry(rule: rule, host: start..<hosts.count))
  }
}
