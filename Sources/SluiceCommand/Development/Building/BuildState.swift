import Sluice
import SluicePluginHost
import SluicePluginImage

/// One rule of the configuration by which libraries are made, and the build that runs by it.
struct BuildState {
  /// A build under way.
  struct Run {
    let number: Int
    let process: SupervisedProcess
    let began: Duration
    var reader = DiagnosticReader()
    /// Of a plugin in Swift, once the build has said it.
    var way: BuildWay?
    /// The sources have changed since: what it makes is not wanted any more.
    var isStale = false

    mutating func add(_ line: String) {
      if let way = BuildWay(line: line) { self.way = way } else { reader.add(line) }
    }
  }

  let rule: PluginBuildRule
  var plugins: [String] = []
  var libraries: Set<String> = []
  /// Of the sources, as the last build began with them.
  var sources: ContentHash?
  var run: Run?

  /// The endings of the files that `plugin build` compiles, and of the files that those include.
  private static let endings = [
    ".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".swift", ".modulemap",
  ]

  /// Tells whether there is something new to build.
  var currentSources: ContentHash? {
    if case .folder = rule.way {
      return SourceTree.hash(of: rule.sources, endings: Self.endings)
    }
    return SourceTree.hash(of: rule.sources)
  }

  /// What runs: the folder first.
  func words(program: String) -> [String] {
    switch rule.way {
    case .folder(let folder): [folder, program, "plugin", "build", "--direct", "."]
    case .command(let words): [rule.workingFolder ?? ".", words[0]] + words.dropFirst()
    }
  }
}
