import Glibc
import SluicePluginHost
import SluiceSupport

/// Makes the library of a plugin from its folder: a Swift package, or C and C++ files.
struct PluginBuild {
  /// The absolute path of the plugin's folder, without symbolic links.
  let folder: String
  let isRelease: Bool
  /// Whether the compiler may be called without the package manager (``DirectBuild``).
  var isDirect = false
  /// Whether a Swift library gets its own runtime, which nothing else in the process uses.
  var isStatic = false
  /// Whether the package manager prints only warnings and errors.
  var isQuiet = false

  /// Returns the paths of the libraries that were built. Messages of the compiler go to standard error.
  func run() throws(CommandError) -> [String] {
    let names = FolderListing.names(in: folder)
    let libraries: [String]
    if names.contains("Package.swift") {
      libraries = try buildPackage()
    } else {
      let sources = CompiledSources(names: names, in: folder)
      guard !sources.isEmpty else {
        throw CommandError(
          .usage,
          "plugin build: \(folder) has neither a Package.swift nor a C or C++ file; `sluice plugin new` creates a plugin"
        )
      }
      libraries = [try compile(sources)]
    }
    for library in libraries { keepToOwner(library) }
    return libraries
  }

  /// Removes the write permission of other users, which new files have if the umask is, for example, 002. The host
  /// refuses a library if others can write to it or to its folder.
  private func keepToOwner(_ library: String) {
    for path in [library, Paths.folder(of: library)] {
      var status = stat()
      if stat(path, &status) == 0 { chmod(path, status.st_mode & 0o7755) }
    }
  }
}

/// The files of a folder from which a C or C++ compiler makes a library.
private struct CompiledSources {
  let c: [String]
  let cPlusPlus: [String]

  init(names: [String], in folder: String) {
    func paths(_ endings: [String]) -> [String] {
      names.filter { name in !SourceTree.isSkipped(name) && endings.contains { name.hasSuffix($0) } }
        .map { "\(folder)/\($0)" }
    }
    c = paths([".c"])
    cPlusPlus = paths([".cc", ".cpp", ".cxx"])
  }

  var isEmpty: Bool { c.isEmpty && cPlusPlus.isEmpty }
}

// Builds in C and C++.
extension PluginBuild {
  /// The library gets its name only when it is complete, so that no process loads an incomplete file.
  private func compile(_ sources: CompiledSources) throws(CommandError) -> String {
    let sdk = try PluginSDK.find()
    let output = "\(folder)/build"
    guard mkdir(output, 0o755) == 0 || errno == EEXIST else {
      throw CommandError(.failed, "cannot make \(output): \(String(cString: strerror(errno)))")
    }
    let name = "lib\(Paths.name(of: folder))"
    let library = "\(output)/\(name).so"
    // A name that no other build uses, because several builds can run at the same time.
    let unfinished = "\(output)/.\(name).\(getpid())"
    if sources.cPlusPlus.isEmpty {
      try link(compiler(sdk) + sources.c, to: "\(unfinished).so")
    } else {
      try compileAndLinkCPlusPlus(sources, sdk, to: unfinished)
    }
    defer { unlink("\(unfinished).so") }
    guard rename("\(unfinished).so", library) == 0 else {
      throw CommandError(.failed, "cannot make \(library): \(String(cString: strerror(errno)))")
    }
    return library
  }

  /// C files are compiled separately, because a C++ compiler treats them as C++. The list of exports hides template
  /// instances of the standard library, which no compiler option hides.
  private func compileAndLinkCPlusPlus(
    _ sources: CompiledSources, _ sdk: PluginSDK, to unfinished: String
  ) throws(CommandError) {
    let exports = "\(unfinished).map"
    var objects: [String] = []
    defer { for path in objects + [exports] { unlink(path) } }
    try ByteOutput.write(Array("{ global: \(LibraryFacts.entrySymbol); local: *; };\n".utf8), to: exports, mode: 0o600)
    for source in sources.c {
      objects.append("\(unfinished).\(objects.count).o")
      try Self.check(ToolProcess(compiler(sdk) + ["-c", source, "-o", objects[objects.count - 1]] + janssonFlags))
    }
    let words = cPlusPlusCompiler(sdk) + ["-Xlinker", "--version-script=\(exports)"]
    try link(words + sources.cPlusPlus + objects, to: "\(unfinished).so")
  }

  private func link(_ words: [String], to path: String) throws(CommandError) {
    do {
      // With `defs`, the linker reports a missing symbol. Without it, only the loader would report it.
      let output = ["-shared", "-Wl,-z,defs", "-o", path]
      try Self.check(
        ToolProcess(words + output + self.words("LDFLAGS", or: []) + janssonFlags + self.words("LDLIBS", or: [])))
    } catch {
      unlink(path)
      throw error
    }
  }

  private func compiler(_ sdk: PluginSDK) -> [String] {
    words("CC", or: ["cc"]) + ["-std=c11"] + Self.errorsOfC + flags(sdk) + words("CFLAGS", or: [])
  }

  /// The C11 standard forbids both, but a compiler may only warn. A call of an undeclared function that returns a
  /// pointer then yields only half of the pointer.
  private static let errorsOfC = ["-Werror=implicit-function-declaration", "-Werror=int-conversion"]

  private func cPlusPlusCompiler(_ sdk: PluginSDK) -> [String] {
    words("CXX", or: ["c++"]) + ["-std=c++17", "-fvisibility-inlines-hidden"] + flags(sdk) + words("CXXFLAGS", or: [])
  }

  /// The flags hide symbols. Otherwise the loader could merge symbols that have the same name in two generations.
  private func flags(_ sdk: PluginSDK) -> [String] {
    ["-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden"] + (isRelease ? ["-O2", "-g"] : ["-O0", "-g"])
      + ["-I", sdk.headers]
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
