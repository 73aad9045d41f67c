/// The commands that make a plugin's library again when nothing but the sources of its one Swift module has changed: those that
/// the package build has run, with outputs in a folder of their own.
///
/// A value that decides and touches no file. Whatever is not known leads to no plan, and so to the package build.
struct CompilePlan: Equatable, Codable {
  /// What `SLUICE_BUILD` was. The package may have it in the name of its module; so may the commands.
  let build: String
  /// All of the module, absolute.
  let sources: [String]
  /// Compile, wrap the module for debuggers, link. Everything that they make is in the folder for outputs.
  let steps: [[String]]
  /// What the compiler is told about outputs of each source, by JSON.
  let outputFileMap: [String: [String: String]]
  let outputs: Outputs
  /// What the package build makes, and this replaces.
  let library: String
  /// Files that go into the library and that nothing here makes: they must be as they were.
  let files: [String]
  /// The folders of the module's sources: files may be neither added nor removed.
  let sourceFolders: [String]
  /// Where the package build has noted which files the compiler has read.
  let dependencyLists: [String]

  /// Names in the folder for outputs.
  struct Outputs: Equatable, Codable {
    let folder: String

    /// Of the record and the lock, which outlive a build.
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

  /// Whether the module has another name in each build, so that nothing compiled for one is of use to another.
  var isNamedByBuild: Bool { steps.joined().contains { $0.contains(build) } }

  /// The commands with the name of this build.
  func steps(for build: String) -> [[String]] {
    steps.map { words in words.map { $0.replacing(self.build, with: build) } }
  }
}
