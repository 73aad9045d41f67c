import SluiceMessages

/// `sluice plugin build`.
enum BuildCommand {
  static let description = CommandDescription(
    "plugin build", summary: "Build a plugin and print the path of its library", operands: "[DIR]",
    operandCount: 0...1,
    details: """
      A folder with a Package.swift is built with "swift build", a folder with C or C++ files (.c, .cc, .cpp, .cxx) with the
      compiler and options in CC and CFLAGS, or CXX and CXXFLAGS, and linked with LDFLAGS and LDLIBS. Headers and SDK are
      those that belong to this command.
      """,
    options: [
      Option("quiet", "q", nil, "In Swift: print only warnings and errors, no progress"),
      Option("configuration", "c", "NAME", words: ["debug", "release"], "debug (default) or release"),
      Option(
        "direct", nil, nil,
        "In Swift: call the compiler without the package manager if only the plugin's own sources have changed"),
      Option(
        "static-stdlib", nil, nil,
        "In Swift: link the standard library statically, for programs with another Swift runtime or none"),
    ],
    run: { arguments throws(CommandError) in try build(arguments) })

  private static func build(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    let configuration = arguments["configuration"] ?? "debug"
    guard ["debug", "release"].contains(configuration) else {
      throw CommandError(.usage, "--configuration: expected debug or release, found \(PlainText.quote(configuration))")
    }
    let given = arguments.operands.first ?? "."
    guard let folder = Paths.resolved(given), Paths.isFolder(folder) else {
      throw CommandError(.usage, "plugin build: there is no folder \(given)")
    }
    let build = PluginBuild(
      folder: folder, isRelease: configuration == "release", isDirect: arguments.has("direct"),
      isStatic: arguments.has("static-stdlib"), isQuiet: arguments.has("quiet"))
    for library in try build.run() {
      try StandardOutput.write("\(library)\n")
    }
    return .succeeded
  }
}
