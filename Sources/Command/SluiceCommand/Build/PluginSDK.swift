import Glibc
import SluiceSupport

/// Where the headers and the Swift package for plugins are.
struct PluginSDK {
  /// The folder that holds `sluice/sluice.h`.
  let headers: String
  /// The Swift package with the product SluicePlugin.
  let package: String
  /// The linker's list of exports of a plugin.
  let exports: String

  /// The SDK next to this command, in an installation or in the source tree. If there is none, the SDK that pkg-config
  /// finds.
  static func find() throws(CommandError) -> PluginSDK {
    if let program = RunningProgram.path() {
      var folder = Paths.folder(of: program)
      while folder != "/" {
        folder = Paths.folder(of: folder)
        if let found = PluginSDK(installedAt: folder) ?? PluginSDK(sourceTree: folder) { return found }
      }
    }
    if let prefix = variable("prefix"), let found = PluginSDK(installedAt: prefix) { return found }
    throw CommandError(
      .failed,
      "the headers for plugins are neither next to this command nor known to pkg-config as \"sluice\"; "
        + "install the package libsluice-dev, run \"make install\", or set PKG_CONFIG_PATH")
  }

  private init?(installedAt prefix: String) {
    headers = "\(prefix)/include"
    package = "\(prefix)/share/sluice/sdk"
    exports = "\(package)/exports.map"
    guard Self.isThere("\(headers)/sluice/sluice.h"), Self.isThere("\(package)/include/sluice/sluice.h") else {
      return nil
    }
  }

  private init?(sourceTree folder: String) {
    headers = "\(folder)/include"
    package = folder
    exports = "\(folder)/share/sluice/sdk/exports.map"
    guard Self.isThere("\(headers)/sluice/sluice.h"), Self.isThere("\(folder)/Sources/Plugins/SluicePlugin") else {
      return nil
    }
  }

  /// Makes the link `.build/sluice-sdk` in the folder of a Swift plugin. With it, an editor finds the SDK, and the
  /// manifest names no path of this machine. An error is ignored, because a build sets `SLUICE_SDK`.
  func link(in folder: String) {
    let link = "\(folder)/.build/sluice-sdk"
    if SymbolicLink.target(link) == package { return }
    mkdir("\(folder)/.build", 0o755)
    unlink(link)
    symlink(package, link)
  }

  private static func variable(_ name: String) -> String? {
    ToolProcess(["pkg-config", "--variable=\(name)", "sluice"]).output().map { $0.filter { !$0.isNewline } }
  }

  private static func isThere(_ path: String) -> Bool { access(path, R_OK) == 0 }
}
