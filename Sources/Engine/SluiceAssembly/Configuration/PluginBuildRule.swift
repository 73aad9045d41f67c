/// How the library of a plugin is built from its sources; the key `build` of a plugin. `sluice dev` uses it.
package struct PluginBuildRule: Sendable, Hashable {
  package enum Way: Sendable, Hashable {
    /// The folder of the plugin, which is built in the same way as by `sluice plugin build`.
    case folder(String)
    /// A program that builds the library, with its arguments.
    case command([String])
  }

  package var way: Way
  /// Files and folders whose change starts a build.
  package var sources: [String]
  /// The folder in which `command` runs, which is the folder of the configuration; nil means the program's working
  /// folder.
  package var workingFolder: String?

  package init(_ way: Way, sources: [String], workingFolder: String? = nil) {
    self.way = way
    self.sources = sources
    self.workingFolder = workingFolder
  }
}

extension PluginBuildRule {
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject(["folder", "command", "sources"])
    switch (node["folder"], node["command"]) {
    case (let folder?, nil):
      if let sources = node["sources"] {
        throw sources.error("with \"folder\", everything in that folder is watched", advice: "leave the key out")
      }
      guard try !folder.string().isEmpty else { throw folder.error("expected a path, found an empty string") }
      let path = try folder.path()
      self.init(.folder(path), sources: [path])
    case (nil, let command?):
      let words = try command.strings()
      guard words.first?.isEmpty == false else { throw command.error("expected a program and its arguments") }
      guard let sources = node["sources"] else {
        throw node.error("expected \"sources\" with the files and folders that the command reads")
      }
      var paths: [String] = []
      for source in try sources.elements() { paths.append(try source.path()) }
      guard !paths.isEmpty else { throw sources.error("expected at least one path, found an empty list") }
      self.init(.command(words), sources: paths, workingFolder: node.source.folder)
    case (nil, nil): throw node.error("expected \"folder\" with the path of a plugin's folder, or \"command\"")
    case (_?, _?): throw node.error("has both \"folder\" and \"command\"", advice: "keep one of them")
    }
  }
}
