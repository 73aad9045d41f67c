import Glibc
import SluicePluginHost

/// Makes the library of a plugin from its folder: a Swift package, or C files.
struct PluginBuild {
  /// Absolute, without symbolic links.
  let folder: String
  let isRelease: Bool
  /// Whether the compiler may be called without the package manager; see ``DirectBuild``.
  var isDirect = false

  /// Gives the paths of the libraries that it built. What the compiler says goes to standard error.
  func run() throws(CommandError) -> [String] {
    let names = FolderListing.names(in: folder)
    let libraries: [String]
    if names.contains("Package.swift") {
      libraries = try buildPackage()
    } else {
      let sources = names.filter { $0.hasSuffix(".c") && !WatchedTree.isSkipped($0) }.map { "\(folder)/\($0)" }
      guard !sources.isEmpty else {
        throw CommandError(.usage, "plugin build: \(folder) has neither a Package.swift nor a C file")
      }
      libraries = [try compile(sources)]
    }
    for library in libraries { keepToOwner(library) }
    return libraries
  }

  /// A library, or a folder, that others may write is refused when it is loaded; so much for a umask of 002.
  private func keepToOwner(_ library: String) {
    for path in [library, Paths.folder(of: library)] {
      var status = stat()
      if stat(path, &status) == 0 { chmod(path, status.st_mode & 0o7755) }
    }
  }
}

// In C.
extension PluginBuild {
  /// Renamed to its name when it is whole, so that nobody loads a half.
  private func compile(_ sources: [String]) throws(CommandError) -> String {
    let sdk = try PluginSDK.find()
    let output = "\(folder)/build"
    guard mkdir(output, 0o755) == 0 || errno == EEXIST else {
      throw CommandError(.failed, "cannot make \(output): \(String(cString: strerror(errno)))")
    }
    let name = "lib\(Paths.name(of: folder))"
    let library = "\(output)/\(name).so"
    // Of this build alone: several may run at a time.
    let unfinished = "\(output)/.\(name).\(getpid()).so"
    defer { unlink(unfinished) }
    try Self.check(ToolProcess(compiler(sdk) + sources + ["-o", unfinished] + janssonFlags))
    guard rename(unfinished, library) == 0 else {
      throw CommandError(.failed, "cannot make \(library): \(String(cString: strerror(errno)))")
    }
    return library
  }

  private func compiler(_ sdk: PluginSDK) -> [String] {
    let optimization = isRelease ? ["-O2", "-g"] : ["-O0", "-g"]
    // Hidden, so that generations share nothing by name; defs, so that what is missing is found here and not by the loader.
    let fixed = ["-std=c11", "-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden", "-shared", "-Wl,-z,defs"]
    return words("CC", or: ["cc"]) + fixed + optimization + ["-I", sdk.headers] + words("CFLAGS", or: [])
  }

  private var janssonFlags: [String] {
    let flags = ToolProcess(["pkg-config", "--cflags", "--libs", "jansson"]).output()
    return flags.map { $0.split(whereSeparator: \.isWhitespace).map(String.init) } ?? ["-ljansson"]
  }

  private func words(_ variable: String, or fallback: [String]) -> [String] {
    let words = getenv(variable).map { String(cString: $0).split(separator: " ").map(String.init) } ?? []
    return words.isEmpty ? fallback : words
  }

  static func check(_ tool: ToolProcess) throws(CommandError) {
    let status = try tool.run()
    guard status == 0 else { throw CommandError(.failed, "plugin build: \(tool.words[0]) ended with status \(status)") }
  }
}
