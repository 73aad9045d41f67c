import Glibc
import SluiceJSON
import SluicePluginHost
import SluicePluginImage
import SluiceSupport

/// What a package build leaves for the builds after it: the plan, and all that has to be as it was for the plan to be right.
struct BuildRecord: Codable {
  private static let currentForm = 1

  private let form: Int
  /// The hash of the variables: the package may ask for any of them.
  private let environment: String
  let plan: CompilePlan
  /// What the package build has made, this library among them.
  let libraries: [String]
  private let state: PathState

  /// Nil where something has changed since the build began, or is of a kind that this cannot watch.
  /// - Parameters:
  ///   - beginning: of the package build.
  ///   - settings: what it got in its environment, beside that of this process.
  init?(_ plan: CompilePlan, libraries: [String], beginning: BuildBeginning, settings: [String: String]) {
    let package = beginning.package
    guard libraries.contains(plan.library), let environment = Self.environment(settings),
      let read = Self.filesRead(plan), PathState.names(in: package) == beginning.names
    else { return nil }
    form = Self.currentForm
    (self.environment, self.plan, self.libraries) = (environment, plan, libraries)
    let made = "\(package)/.build/"
    let files = Set(plan.files).union(read.subtracting(plan.sources)).union(Self.manifests(of: package))
    let folders = Set(files.filter { !$0.hasPrefix(made) }.flatMap(Self.folders(of:))).union([package])
    guard let state = PathState(files: files.union(Self.compiler), folders: folders, trees: plan.sourceFolders) else {
      return nil
    }
    self.state = state
    // The folder of the package has got its .build meanwhile; its names were compared.
    guard state.isOlder(than: beginning.time, except: { $0.hasPrefix(made) || $0 == package }) else { return nil }
  }

  /// Nil where none is there, or one of another form.
  init?(readingFrom path: String) {
    guard let bytes = try? FileContent.read(path), let value = try? JSONValue(parsing: bytes),
      let record = try? value.decode(BuildRecord.self), record.form == Self.currentForm
    else { return nil }
    self = record
  }

  func write() throws(CommandError) {
    guard let bytes = try? JSONValue(encoding: self).serialized() else {
      throw CommandError(.failed, "cannot write the record of a build")
    }
    try plan.outputs.write(bytes, to: plan.outputs.record)
  }

  /// Why the plan may be wrong by now; nil where it is right.
  func doubt(settings: [String: String]) -> String? {
    guard environment == Self.environment(settings) else { return "the environment is not that of the last build" }
    return state.changed.map { "\($0) has changed" }
  }

  /// The plan has the name of the build; the others are a shell's own, and differ from one command to the next.
  private static let changing = ["SLUICE_BUILD", "SHLVL", "OLDPWD", "_"]

  private static func environment(_ settings: [String: String]) -> String? {
    let variables = ProcessEnvironment.current(replacing: settings).filter { variable in
      !changing.contains { variable.hasPrefix("\($0)=") }
    }
    return ContentHash(of: Array(variables.sorted().joined(separator: "\0").utf8))?.hex
  }

  /// Headers and modules, which no command of the package build names.
  private static func filesRead(_ plan: CompilePlan) -> Set<String>? {
    var files: Set<String> = []
    for list in plan.dependencyLists {
      guard let text = try? FileContent.read(list),
        let paths = DependencyList.paths(in: String(decoding: text, as: UTF8.self))
      else { return nil }
      files.formUnion(paths)
    }
    return files
  }

  /// Those of other versions of Swift too, and what was resolved.
  private static func manifests(of package: String) -> Set<String> {
    let names = FolderListing.names(in: package).filter { $0.hasPrefix("Package") }
    return Set(
      (names + ["Package.swift", "Package.resolved", ".swift-version", ".swiftpm/configuration/mirrors.json"]).map {
        "\(package)/\($0)"
      })
  }

  /// For a file of another package: its folder and those above it, up to the one with the manifest. New files there may be
  /// sources too. None for a file that is in no package.
  private static func folders(of file: String) -> [String] {
    var folders: [String] = []
    var folder = file
    repeat {
      folder = Paths.folder(of: folder)
      folders.append(folder)
      if access("\(folder)/Package.swift", F_OK) == 0 { return folders }
    } while folder != "/"
    return []
  }

  /// The `swift` that would build the package.
  private static var compiler: [String] {
    let places = getenv("PATH").map { String(cString: $0).split(separator: ":").map { "\($0)/swift" } } ?? []
    return places.first { access($0, X_OK) == 0 }.map { [$0] } ?? []
  }
}

/// What has to be noted before a package build, to know afterwards what it has seen.
struct BuildBeginning {
  let package: String
  /// Of files and folders in the package's folder.
  let names: [String]
  /// CLOCK_REALTIME, as files have it: what was changed later may have escaped the build.
  let time: Duration

  /// Waits for a moment, so that what was saved just now is older than the time.
  init(package: String) {
    self.package = package
    names = PathState.names(in: package)
    // The kernel's time of a change is that of its last tick, at most 10 ms ago.
    usleep(25_000)
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    time = .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec) - .milliseconds(20)
  }
}
