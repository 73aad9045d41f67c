import Glibc
import SluiceSupport

/// The two libraries that a program under `sluice attach` loads.
struct AttachLibraries {
  /// `libsluice-attach.so`, which the dynamic loader maps into the program.
  let preload: String
  /// `libsluice-attach-host.so`, which that library opens with the first transfer.
  let host: String

  /// Beside the command in a build folder, and in `../lib/sluice` where it is installed.
  static func ofThisProgram() throws(CommandError) -> AttachLibraries {
    guard let program = Paths.resolved("/proc/self/exe") else {
      throw CommandError(.failed, "attach: cannot find out where this command is: \(SystemError.text())")
    }
    let folder = Paths.folder(of: program)
    let folders = [folder, "\(folder)/../lib/sluice"]
    for folder in folders {
      let found = AttachLibraries(
        preload: "\(folder)/libsluice-attach.so", host: "\(folder)/libsluice-attach-host.so")
      if access(found.preload, R_OK) == 0, access(found.host, R_OK) == 0 { return found }
    }
    throw CommandError(
      .usage,
      "attach: libsluice-attach.so and libsluice-attach-host.so are not in \(folders.joined(separator: " or "));"
        + " install the command again, or build all products")
  }
}
