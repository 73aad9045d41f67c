import Glibc
import SluicePluginFile
import SluiceSupport

/// The program that tries libraries out: the `sluice` command, with arguments that its help does not show.
package struct TrialHelper: Sendable, Hashable {
  package let path: String

  package init(path: String) { self.path = path }

  /// This program if it is the command, otherwise the command next to it, otherwise the first on `PATH`. Returns nil if
  /// none is found.
  package static func find() -> TrialHelper? {
    let program = RunningProgram.path()
    if let program, name(of: program) == "sluice" { return TrialHelper(path: RunningProgram.executable ?? program) }
    let beside = program.map { [folder(of: $0)] } ?? []
    let searched = getenv("PATH").map { String(cString: $0).split(separator: ":").map(String.init) } ?? []
    for folder in beside + searched where folder.hasPrefix("/") {
      let path = "\(folder)/sluice"
      var status = stat()
      if stat(path, &status) == 0, status.isRegularFile, access(path, X_OK) == 0 { return TrialHelper(path: path) }
    }
    return nil
  }

  private static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  private static func folder(of path: String) -> String { LibraryPermissions.folder(of: path) }
}
