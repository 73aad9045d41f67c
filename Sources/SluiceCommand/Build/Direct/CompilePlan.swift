/// The commands that rebuild a plugin's library if only the sources of its one Swift module have changed. They are the
/// commands of the package build, with their outputs in a separate folder.
///
/// A value that decides and touches no file. If a command has an unknown form, there is no plan, and the package is
/// built.
struct CompilePlan: Equatable, Codable {
  /// The value of `SLUICE_BUILD`. The package may use it in the name of its module, so the commands may contain it.
  let build: String
  /// All sources of the module, as absolute paths.
  let sources: [String]
  /// Compile, wrap the module for debuggers, link. All their outputs are in the folder for outputs.
  let steps: [[String]]
  /// The compiler's map of the outputs of each source, written as JSON.
  let outputFileMap: [String: [String: String]]
  let outputs: Outputs
  /// The library that the package build makes, and that this plan replaces.
  let library: String
  /// Files that go into the library and that these commands do not make: they must be unchanged.
  let files: [String]
  /// The folders of the module's sources: files may be neither added nor removed.
  let sourceFolders: [String]
  /// The files in which the package build has listed what the compiler has read.
  let dependencyLists: [String]

  /// Names in the folder for outputs.
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

  /// Whether the module has another name in each build, so that no build can reuse what another build has compiled.
  var isNamedByBuild: Bool { steps.joined().contains { $0.contains(build) } }

  /// The commands with the name of this build.
  func steps(for build: String) -> [[String]] {
    steps.map { words in words.map { $0.replacing(self.build, with: build) } }
  }
}
