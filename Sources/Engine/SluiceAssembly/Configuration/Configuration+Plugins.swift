import SluiceIDNA
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluicePluginHost

extension Configuration {
  mutating func readPlugins(_ node: ConfigurationNode) throws(ConfigurationError) {
    for (name, member) in try node.members() { plugins.append(try plugin(name, member)) }
  }

  private func plugin(_ name: String, _ node: ConfigurationNode) throws(ConfigurationError) -> PluginConfiguration {
    guard !name.isEmpty, name.utf8.count <= 64, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x22 }) else {
      throw node.error("a plugin's name has 1 to 64 printable ASCII characters without spaces and quotes")
    }
    try node.checkObject([
      "library", "builtin", "release", "config", "deadline", "onFault", "delivery", "build", "allow",
    ])
    var plugin = PluginConfiguration(name: name, source: try source(node), location: node.location)
    plugin.releaseID = try node["release"].map { release throws(ConfigurationError) in try Self.releaseID(release) }
    if let config = node["config"] { plugin.config = try config.resolvingAllReferences() }
    plugin.deadline = try node["deadline"]?.timeLimit()
    plugin.onFault = try node["onFault"]?.word(FaultPolicy.self)
    if let build = node["build"] {
      guard plugin.library != nil else {
        throw build.error("a built-in is part of the engine and is not built", advice: "leave the key out")
      }
      guard plugin.releaseID == nil else {
        throw build.error("a plugin from a release is not built here", advice: "leave the key out")
      }
      guard try !Self.isInstalled(node) else {
        throw build.error(
          "an installed plugin is not built", advice: "leave the key out, or write the path of the library")
      }
      plugin.build = try PluginBuildRule(build)
    }
    if let allow = node["allow"] {
      guard plugin.library != nil else {
        throw allow.error("a built-in is part of the engine and has no hazards", advice: "leave the key out")
      }
      for hazard in try allow.elements() { plugin.allowed.insert(try hazard.word(LibraryHazard.self)) }
    }
    if let delivery = node["delivery"] {
      plugin.delivery = try delivery.word(PluginConfiguration.Delivery.self)
      if case .builtin(let name) = plugin.source, plugin.delivery == .queued {
        throw delivery.error("the built-in \"\(name)\" always gets its events inline", advice: "leave the key out")
      }
    }
    return plugin
  }

  private func source(_ node: ConfigurationNode) throws(ConfigurationError) -> PluginConfiguration.Source {
    let given = ["library", "builtin", "release"].filter { node[$0] != nil }
    guard given.count < 2 else {
      throw node.error("has both \"\(given[0])\" and \"\(given[1])\"", advice: "keep one of them")
    }
    if let library = node["library"] { return .library(path: try library.library()) }
    if let release = node["release"] { return try self.release(release) }
    guard let builtin = node["builtin"] else {
      throw node.error(
        "expected \"library\" with the path of a plugin, \"builtin\" with its name, or \"release\" with its id in signed "
          + "releases")
    }
    let name = try builtin.string()
    guard BuiltInName(rawValue: name) != nil else {
      let names = BuiltInName.allCases.map(\.rawValue).joined(separator: ", ")
      throw builtin.error("no built-in is named \(PlainText.quote(name)); there are \(names)")
    }
    return .builtin(name)
  }

  private func release(_ node: ConfigurationNode) throws(ConfigurationError) -> PluginConfiguration.Source {
    guard let update else {
      throw node.error(
        "there is no \"update\" that says where releases come from", advice: "add \"update\" with \"url\" and \"root\"")
    }
    return .library(path: update.path(of: try Self.releaseID(node)))
  }

  /// Whether the library is given by the name of an installed plugin.
  private static func isInstalled(_ node: ConfigurationNode) throws(ConfigurationError) -> Bool {
    try node["library"].map { library throws(ConfigurationError) in InstalledPlugins.isName(try library.string()) }
      ?? false
  }

  /// A list of names, or of objects with a name, a `match` and a `config`.
  func stages(_ node: ConfigurationNode?) throws(ConfigurationError) -> [StageReference] {
    guard let node else { return [] }
    var stages: [StageReference] = []
    for element in try node.elements() { stages.append(try stage(element)) }
    return stages
  }

  private func stage(_ node: ConfigurationNode) throws(ConfigurationError) -> StageReference {
    var reference: StageReference
    if node.value.isObject {
      try node.checkObject(["plugin", "match", "config"])
      guard let plugin = node["plugin"] else { throw node.error("expected \"plugin\" with a name from \"plugins\"") }
      reference = StageReference(try plugin.string(), location: plugin.location)
      if let match = node["match"] { reference.match = try Self.match(match) }
      if let config = node["config"] {
        reference.config = try config.resolvingAllReferences()
        reference.configLocation = config.location
      }
    } else {
      guard let name = node.value.string else { throw node.mismatch("a plugin's name, or an object with \"plugin\"") }
      reference = StageReference(name, location: node.location)
    }
    guard plugins.contains(where: { $0.name == reference.plugin }) else {
      throw ConfigurationError(
        reference.location, "no plugin is named \(PlainText.quote(reference.plugin))",
        advice: plugins.isEmpty
          ? "add it under \"plugins\"" : "there are \(plugins.map(\.name).joined(separator: ", "))")
    }
    return reference
  }

  private static func match(_ node: ConfigurationNode) throws(ConfigurationError) -> StageMatch {
    try node.checkObject(["hosts", "methods", "paths"])
    var match = StageMatch()
    for host in try node["hosts"]?.elements() ?? [] {
      match.hosts.append(try host.parsed { text throws(MessageError) in try HostPattern(text, hosts: .idna) })
    }
    match.methods = try node["methods"]?.strings() ?? []
    for path in try node["paths"]?.elements() ?? [] { match.paths.append(try pathGlob(path)) }
    return match
  }

  private static func pathGlob(_ node: ConfigurationNode) throws(ConfigurationError) -> PathGlob {
    let glob = PathGlob(try node.string())
    guard !glob.hasDotSegment else {
      throw node.error(
        "the pattern matches nothing: \".\" and \"..\" segments are removed from a path before the comparison",
        advice: "write the path without them")
    }
    return glob
  }
}

/// The stages that come with the engine, by their names in a configuration. There is no other list of them.
enum BuiltInName: String, CaseIterable { case headers, metrics }
