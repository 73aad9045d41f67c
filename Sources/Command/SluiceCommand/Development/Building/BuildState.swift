import Sluice
import SluiceAssembly
import SluicePluginHost

/// A `build` rule of the configuration, which makes libraries, and the current run of this rule.
struct BuildState {
  /// A running build.
  struct Run {
    let number: Int
    let process: SupervisedProcess
    let began: Duration
    var reader = DiagnosticReader()
    /// How a Swift plugin is built; nil until the build has reported it.
    var way: BuildWay?
    /// Whether the sources have changed since the run began. If so, its result will not be used.
    var isStale = false
    /// Whether the sources were written during the run, although they have the same content now. The compiler may have
    /// read another content.
    var isDoubtful = false

    mutating func add(_ line: String) {
      if let way = BuildWay(line: line) { self.way = way } else { reader.add(line) }
    }
  }

  let rule: PluginBuildRule
  var plugins: [String] = []
  var libraries: Set<String> = []
  /// The hash of the sources at the start of the last build.
  private(set) var sources: ContentHash?
  var run: Run?
  /// When the last run ended.
  var ended = Duration.zero
  /// Whether the result of a build of these sources was reported. A repeated build of them is no news.
  var isReported = false
  /// How often these sources were built again because a run was doubtful.
  private var repeats = 0

  /// After this number, the build itself seems to write its sources, for example a file with the version. Such a build
  /// would never come to an end.
  private static let mostRepeats = 2

  init(rule: PluginBuildRule) { self.rule = rule }

  /// Notes that the sources have another content, which must be built.
  mutating func adopt(_ sources: ContentHash) {
    self.sources = sources
    isReported = false
    repeats = 0
  }

  /// Whether the same sources must be built again after a doubtful run. The report of a write can come after the end of
  /// the run, so a run without such a report is no sign that the build has left its sources alone.
  mutating func mustRepeat() -> Bool {
    repeats += 1
    return repeats <= Self.mostRepeats
  }

  /// The endings of the files that `plugin build` compiles, and of the headers and module maps that these files use.
  private static let endings = [
    ".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".swift", ".modulemap",
  ]

  /// The hash of the current sources, which shows whether there is something new to build.
  var currentSources: ContentHash? {
    if case .folder = rule.way {
      return SourceTree.hash(of: rule.sources, endings: Self.endings)
    }
    return SourceTree.hash(of: rule.sources)
  }

  /// The folder in which the build runs, then the program and its arguments.
  func words(program: String) -> [String] {
    switch rule.way {
    case .folder(let folder): [folder, program, "plugin", "build", "--direct", "."]
    case .command(let words): [rule.workingFolder ?? ".", words[0]] + words.dropFirst()
    }
  }
}
