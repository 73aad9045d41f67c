import SluiceMessages

extension HostList {
  /// - Parameter hosts: nil stands for the origin of the base URL.
  init(
    hosts: ConfigurationNode?, excluded: ConfigurationNode?, base: HTTPURL?
  ) throws(ConfigurationError) {
    self.init()
    if let hosts {
      for host in try hosts.elements() { entries.append(try Entry(host)) }
    } else {
      origin = base?.origin
    }
    for host in try excluded?.elements() ?? [] {
      exclusions.append(Exclusion(pattern: try host.hostPattern(), source: "exclude"))
    }
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
    try parsed { text throws(MessageError) in try HostPattern(text) }
  }
}
