import Glibc
import SluiceJSON
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

/// The record that a package build stores for later builds: the plan, and the state of all files and folders on which
/// the plan depends.
struct BuildRecord: Codable {
  private static let currentForm = 1

  private let form: Int
  /// The hash of the environment variables, because the package can read any of them.
  private let environment: String
  let plan: CompilePlan
  /// The libraries that the package build has made, including the library of the plan.
  let libraries: [String]
  private let state: PathState

  /// Returns nil if something that the plan depends on has changed since the build began, or if it cannot be checked
  /// for changes.
  /// - Parameters:
  ///   - beginning: the state before the package build.
  ///   - settings: the variables that the build got in addition to the environment of this process.
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
    // The build can have created .build in the package's folder. The folder's time is therefore ignored; the names in
    // the folder were compared above.
    guard state.isOlder(than: beginning.time, except: { $0.hasPrefix(made) || $0 == package }) else { return nil }
  }

  /// Returns nil if there is no record, or its form is not ``currentForm``.
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

  /// Why the plan may be out of date; nil if it is valid.
  func doubt(settings: [String: String]) -> String? {
    guard environment == Self.environment(settings) else { return "the environment has changed since the last build" }
    return state.changed.map { "\($0) has changed" }
  }

  /// `SLUICE_BUILD` is left out because the plan already contains the name of the build. The other variables belong to
  /// the shell and differ between commands.
  private static let changing = ["SLUICE_BUILD", "SHLVL", "OLDPWD", "_"]

  private static func environment(_ settings: [String: String]) -> String? {
    let variables = ProcessEnvironment.texts(replacing: settings).filter { variable in
      !changing.contains { variable.hasPrefix("\($0)=") }
    }
    return ContentHash(of: Array(variables.sorted().joined(separator: "\0").utf8))?.hex
  }

  /// The files that the compiler has read. They include headers and modules that no command of the package build names.
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

  /// The paths of the manifest, of its variants for other versions of Swift, and of the files that select dependencies
  /// and the version of Swift.
  private static func manifests(of package: String) -> Set<String> {
    let names = FolderListing.names(in: package).filter { $0.hasPrefix("Package") }
    return Set(
      (names + ["Package.swift", "Package.resolved", ".swift-version", ".swiftpm/configuration/mirrors.json"]).map {
        "\(package)/\($0)"
      })
  }

  /// The folder of a file and the folders above it, up to the folder with the package's manifest. A new file in any of
  /// these folders can be a source too. Empty for a file that is in no package.
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

  /// The executable of the `swift` on `PATH` that would build the package; empty if there is none.
  private static var compiler: [String] {
    let places = getenv("PATH").map { String(cString: $0).split(separator: ":").map { "\($0)/swift" } } ?? []
    return places.first { access($0, X_OK) == 0 }.map { [$0] } ?? []
  }
}

/// The state of the package at the start of a package build. A later check compares files with it to tell which changes
/// the build has seen.
struct BuildBeginning {
  let package: String
  /// The names of files and folders in the package's folder.
  let names: [String]
  /// The time on CLOCK_REALTIME, which file times use. The build may have missed a change after this time.
  let time: Duration

  /// Waits a moment before it takes `time`, so that a file that was saved just before is older than `time`.
  init(package: String) {
    self.package = package
    names = PathState.names(in: package)
    // The kernel stamps a change with the time of its last clock tick, which can be 10 ms earlier.
    usleep(25_000)
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    time = .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec) - .milliseconds(20)
  }
}
