/// The three commands of a package build that must be repeated if only sources of its one Swift module have changed.
struct PackageCommands {
  let compile: BuildManifest.Command
  /// Puts the module into an object file, for debuggers.
  let wrap: BuildManifest.Command
  let link: BuildManifest.Command

  /// Returns nil if the build needs commands other than these three, or lacks one of the three.
  /// - Parameter package: the folder of the package.
  init?(_ manifest: BuildManifest, package: String) {
    guard let link = Self.link(manifest), let compile = Self.compile(manifest, for: link, package),
      let wrap = Self.wrap(manifest, of: compile)
    else { return nil }
    (self.compile, self.wrap, self.link) = (compile, wrap, link)
    let module = compile.outputs.count { $0.hasSuffix(".swiftmodule") }
    guard !sources.isEmpty, sources.allSatisfy({ Self.isOwn($0, package) }), objects.count == sources.count,
      module == 1,
      compile.outputs.count == objects.count + module, Set(linked).count == linked.count,
      linked.count == objects.count + wrap.outputs.count + otherObjects.count,
      otherObjects.allSatisfy({ $0.hasPrefix("/") && $0.hasSuffix(".o") })
    else { return nil }
  }

  var library: String { link.outputs[0] }
  /// All sources of the module.
  var sources: [String] { compile.inputs.filter { $0.hasSuffix(".swift") } }
  /// All objects of the module.
  var objects: [String] { compile.outputs.filter { $0.hasSuffix(".o") } }
  /// Objects of other modules.
  var otherObjects: [String] { linked.filter { !objects.contains($0) && !wrap.outputs.contains($0) } }

  private var linked: [String] { Self.linked(link) }

  /// The files that are linked, without the response file that lists them.
  private static func linked(_ link: BuildManifest.Command) -> [String] {
    link.inputs.filter { !$0.hasSuffix(".LinkFileList") }
  }

  /// The command that links a library of a plain `swift build`; nil if there is not exactly one.
  private static func link(_ manifest: BuildManifest) -> BuildManifest.Command? {
    let made = Set(manifest.main.flatMap { manifest.producer(of: $0)?.inputs ?? [] })
    let links = manifest.commands.filter { command in
      command.arguments.contains("-emit-library") && command.outputs.contains { made.contains($0) }
    }
    guard links.count == 1, links[0].outputs.count == 1, links[0].outputs[0].hasSuffix(".so") else { return nil }
    return links[0]
  }

  /// The command that compiles sources of this package; nil if there is not exactly one. A package with several modules
  /// is not built directly, because the names of its other modules can contain the name of the build too.
  private static func compile(
    _ manifest: BuildManifest, for link: BuildManifest.Command, _ package: String
  ) -> BuildManifest.Command? {
    let makers = Set(linked(link).compactMap { manifest.producers[$0] }).map { manifest.commands[$0] }
    let own = makers.filter { command in command.inputs.contains { isOwn($0, package) } }
    guard own.count == 1, own[0].arguments.contains("-module-name") else { return nil }
    // Modules that are not linked into the library, such as macros, can also have sources in the package.
    let others = makers.filter { $0 != own[0] && !$0.arguments.contains("-modulewrap") }.flatMap(\.outputs)
    let origins = manifest.origins(
      of: others + own[0].inputs.filter { !$0.hasSuffix(".swift") && !$0.hasSuffix("/sources") })
    return origins.contains { isOwn($0, package) } ? nil : own[0]
  }

  private static func wrap(
    _ manifest: BuildManifest, of compile: BuildManifest.Command
  ) -> BuildManifest.Command? {
    let wraps = manifest.commands.filter { command in
      command.arguments.contains("-modulewrap") && command.inputs.contains { compile.outputs.contains($0) }
    }
    guard wraps.count == 1, wraps[0].inputs.count == 1, wraps[0].outputs.count == 1 else { return nil }
    return wraps[0]
  }

  /// Whether the path is in the package, outside of its build folder.
  private static func isOwn(_ path: String, _ package: String) -> Bool {
    path.hasPrefix("\(package)/") && !path.hasPrefix("\(package)/.build/")
  }
}
