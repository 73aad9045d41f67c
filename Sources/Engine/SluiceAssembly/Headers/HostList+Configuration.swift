import SluiceIDNA
import SluiceJSON
import SluiceMessages

extension HostList {
  /// - Parameters:
  ///   - hosts: nil means the origin of the base URL.
  ///   - more: additional exclusions.
  init(
    hosts: ConfigurationNode?, excluded: ConfigurationNode?, base: HTTPURL?, excluding more: [Exclusion]
  ) throws(ConfigurationError) {
    var entries: [Entry] = []
    for host in try hosts?.elements() ?? [] { entries.append(try Entry(host)) }
    var exclusions: [Exclusion] = []
    for host in try excluded?.elements() ?? [] {
      exclusions.append(Exclusion(pattern: try host.hostPattern(), source: "exclude"))
    }
    self.init(entries: entries, origin: hosts == nil ? base?.origin : nil, exclusions: exclusions + more)
  }
}

extension HostList.Entry {
  /// `"api.example.com"`, or `{"host": "api.example.com", "send": ["trace"]}`.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    guard node.value.isObject else {
      self.init(pattern: try node.hostPattern(), kinds: .all)
      return
    }
    try node.checkObject(["host", "send"])
    guard let host = node["host"] else { throw node.error("\"host\" is missing", advice: "name a host") }
    guard let send = node["send"] else {
      self.init(pattern: try host.hostPattern(), kinds: .all)
      return
    }
    var kinds: HeaderKinds = []
    for kind in try send.elements() { kinds.insert(HeaderKinds(try kind.word(HeaderKind.self))) }
    self.init(pattern: try host.hostPattern(), kinds: kinds)
  }
}

extension ConfigurationNode {
  fileprivate func hostPattern() throws(ConfigurationError) -> HostPattern {
    try parsed { text throws(MessageError) in try HostPattern(text, hosts: .idna) }
  }
}
