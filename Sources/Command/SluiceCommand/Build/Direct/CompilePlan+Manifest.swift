// Makes the plan from the commands of the package build.
extension CompilePlan {
  /// - Parameters:
  ///   - package: the folder of the package, absolute and without symbolic links.
  ///   - build: the value of `SLUICE_BUILD` in that build.
  init?(_ manifest: BuildManifest, package: String, build: String, outputs: Outputs) {
    let structure = manifest.origins(of: ["<PackageStructure>"])
    let folders = structure.filter { $0.hasSuffix("/") }.map { String($0.dropLast()) }
    guard let commands = PackageCommands(manifest, package: package),
      let steps = Self.steps(commands, outputs),
      commands.sources.allSatisfy({ source in folders.contains { source.hasPrefix("\($0)/") } })
    else { return nil }
    let fixed = commands.sources + commands.otherObjects + [commands.library, package, outputs.folder]
    // The plan replaces the name of the build wherever it occurs in a command. A short name could also occur by chance
    // as a part of another word.
    guard build.utf8.count >= 8, fixed.allSatisfy({ !$0.contains(build) }) else { return nil }

    let origins = manifest.origins(of: [commands.library]).union(structure).filter { !$0.hasSuffix("/") }
    let modules = commands.compile.inputs.filter { $0.hasSuffix(".swiftmodule") }
    files = origins.union(commands.otherObjects).union(modules).subtracting(commands.sources).sorted()
    (self.build, self.steps, self.outputs) = (build, steps, outputs)
    (sources, library, sourceFolders) = (commands.sources, commands.library, folders.sorted())
    outputFileMap = Self.outputFileMap(commands.sources, outputs)
    dependencyLists = commands.objects.map { Self.dependencyList(of: $0) }
  }

  private static func steps(_ commands: PackageCommands, _ outputs: Outputs) -> [[String]]? {
    let objects = commands.sources.indices.map { outputs.source($0, "o") } + [outputs.wrappedModule]
    guard let compile = compileWords(commands.compile.arguments, commands.sources, outputs),
      let wrap = words(commands.wrap.arguments, ["-modulewrap": outputs.module, "-o": outputs.wrappedModule]),
      let link = linkWords(commands.link.arguments, commands.otherObjects + objects, outputs)
    else { return nil }
    let steps = [compile, wrap, link]
    // The commands must not read or write the outputs that the package build has made for the module.
    let made = commands.compile.outputs + commands.wrap.outputs
    return steps.joined().contains { word in made.contains { word.contains($0) } } ? nil : steps
  }

  private static func compileWords(_ words: [String], _ sources: [String], _ outputs: Outputs) -> [String]? {
    // This option selects output for build tools. It is left out, so that the compiler writes messages for people.
    let wanted = words.filter { $0 != "-parseable-output" }
    let replaced = Self.words(
      wanted,
      [
        "-emit-module-path": outputs.module, "-emit-objc-header-path": outputs.header,
        "-output-file-map": outputs.fileMap,
      ], optional: ["-emit-objc-header-path"])
    guard let replaced, let list = replaced.firstIndex(where: { $0.hasPrefix("@") }), !replaced.contains("-o"),
      replaced.allSatisfy({ !$0.hasPrefix("-emit-") || Self.knownEmissions.contains($0) })
    else { return nil }
    return replaced[..<list] + sources + replaced[(list + 1)...]
  }

  private static let knownEmissions: Set<String> = [
    "-emit-dependencies", "-emit-module", "-emit-module-path", "-emit-objc-header", "-emit-objc-header-path",
  ]

  private static func linkWords(
    _ words: [String], _ objects: [String], _ outputs: Outputs
  ) -> [String]? {
    guard let replaced = Self.words(words, ["-o": outputs.library]),
      let list = replaced.firstIndex(where: { $0.hasPrefix("@") && $0.hasSuffix(".LinkFileList") })
    else { return nil }
    return replaced[..<list] + objects + replaced[(list + 1)...]
  }

  /// Replaces the value after each of these options. Returns nil if an option occurs more than once, or if it does not
  /// occur and is not in `optional`. Also returns nil if the program is not a Swift compiler with an absolute path, or
  /// if more than one word names a file with further words (`@FILE`).
  private static func words(
    _ words: [String], _ values: [String: String], optional: Set<String> = []
  ) -> [String]? {
    guard let program = words.first, program.hasPrefix("/"), program.hasSuffix("/swiftc"),
      words.count(where: { $0.hasPrefix("@") }) <= 1
    else { return nil }
    var words = words
    for (option, value) in values {
      let places = words.indices.filter { words[$0] == option }
      if places.isEmpty, optional.contains(option) { continue }
      guard places.count == 1, places[0] + 1 < words.count else { return nil }
      words[places[0] + 1] = value
    }
    return words
  }

  private static func outputFileMap(_ sources: [String], _ outputs: Outputs) -> [String: [String: String]] {
    var map = ["": ["swift-dependencies": "\(outputs.folder)/module.swiftdeps"]]
    for (number, source) in sources.enumerated() {
      map[source] = [
        "object": outputs.source(number, "o"), "dependencies": outputs.source(number, "d"),
        "swift-dependencies": outputs.source(number, "swiftdeps"), "diagnostics": outputs.source(number, "dia"),
        "swiftmodule": outputs.source(number, "swiftmodule"),
      ]
    }
    return map
  }

  /// The path of the dependency list of an object: `Name.d` for `Name.swift.o`.
  private static func dependencyList(of object: String) -> String {
    let ending = object.hasSuffix(".swift.o") ? ".swift.o" : ".o"
    return "\(object.dropLast(ending.count)).d"
  }
}
