/// The commands that rebuild a plugin's library if only the sources of its one Swift module have changed. They are the
/// commands of the package build, with their outputs in a separate folder.
///
/// A plan is a value and touches no file. If a command has an unknown form, there is no plan, and `swift build` builds
/// the whole package instead.
struct CompilePlan: Equatable, Codable {
  /// The value of `SLUICE_BUILD`. The package can use it in the name of its module, so the commands can contain it.
  let build: String
  /// All sources of the module, as absolute paths.
  let sources: [String]
  /// Three commands: compile, wrap the module for debuggers, link. They write all outputs to the folder for outputs.
  let steps: [[String]]
  /// The compiler's map of the outputs of each source, written as JSON.
  let outputFileMap: [String: [String: String]]
  let outputs: Outputs
  /// The library that the package build has made. The library that this plan makes replaces it.
  let library: String
  /// Files that are used for the library, but are not made by these commands. The plan is valid only while they are
  /// unchanged.
  let files: [String]
  /// The folders of the module's sources. The plan is valid only while no file is added to or removed from them.
  let sourceFolders: [String]
  /// The dependency lists of the package build. Each lists files that the compiler has read.
  let dependencyLists: [String]

  /// The paths of the outputs, all in one folder.
  struct Outputs: Equatable, Codable {
    let folder: String

    /// The names of the record and the lock, which outlive a build.
    static let lasting: Set<String> = ["record.json", "lock"]

    var module: String { "\(folder)/module.swiftmodule" }
    var wrappedModule: String { "\(folder)/module.swiftmodule.o" }
    var header: String { "\(folder)/module.h" }
    var fileMap: String { "\(folder)/output-file-map.json" }
    var library: String { "\(folder)/library.so" }
    var record: String { "\(folder)/record.json" }
    var lock: String { "\(folder)/lock" }

    func source(_ number: Int, _ ending: String) -> String { "\(folder)/source-\(number).\(ending)" }
  }

  /// Whether the module has a different name in each build, so that no build can reuse compiled files of another build.
  var isNamedByBuild: Bool { steps.joined().contains { $0.contains(build) } }

  /// The commands for a build with the given name.
  func steps(for build: String) -> [[String]] {
    steps.map { words in words.map { $0.replacing(self.build, with: build) } }
  }
}
