import Glibc
import Sluice
import SluicePluginHost
import SluiceSupport

// Builds of Swift packages.
extension PluginBuild {
  func buildPackage() throws(CommandError) -> [String] {
    let build = sourceHash
    let sdk = try PluginSDK.find()
    sdk.link(in: folder)
    // SLUICE_PACKAGE is for tests, which build the plugin together with an engine.
    var settings = ["SLUICE_SDK": sdk.package, "SLUICE_BUILD": build, "SLUICE_PACKAGE": ""]
    // The variable is part of the record's environment. A direct build therefore notices if `isStatic` was different in
    // the last build.
    if isStatic { settings["SLUICE_STATIC_STDLIB"] = "1" }
    let flags = isStatic ? Self.staticFlags(sdk) : []
    // A release is always built as a package.
    guard !isRelease else { return try buildPackage(settings, flags) }
    let direct = DirectBuild(package: folder, settings: settings, build: build)
    if isDirect {
      do {
        let libraries = try direct.run()
        StandardError.say(BuildWay.direct.message, .info)
        return libraries
      } catch let error as CommandError {
        StandardError.say(BuildWay.direct.message, .info)
        throw error
      } catch {
        let reason = (error as? DirectBuild.Doubt)?.reason ?? "\(error)"
        StandardError.say(BuildWay.package(because: reason).message, .info)
      }
    }
    // A build without `isDirect` leaves a record too, so that the first build of `sluice dev` can be direct.
    direct.forget()
    let beginning = BuildBeginning(package: folder)
    let libraries = try buildPackage(settings, flags)
    direct.note(libraries, beginning: beginning)
    return libraries
  }

  /// Flags for a library with its own runtime. They are needed because the option `--static-swift-stdlib` of the
  /// package manager works only for programs. With them, the library exports only its entry point, and calls its own
  /// runtime even if the process has another runtime with the same symbol names.
  private static func staticFlags(_ sdk: PluginSDK) -> [String] {
    [
      "-Xswiftc", "-static-stdlib", "-Xlinker", "--version-script=\(sdk.exports)", "-Xlinker", "-Bsymbolic",
    ]
  }

  private func buildPackage(_ settings: [String: String], _ flags: [String]) throws(CommandError) -> [String] {
    let words = ["swift", "build", "--package-path", folder, "-c", isRelease ? "release" : "debug"] + flags
    try Self.check(ToolProcess(words + (isQuiet ? ["--quiet"] : []), environment: settings))
    let place = ToolProcess(words + ["--show-bin-path"], environment: settings).output()?.filter { !$0.isNewline }
    guard let place else {
      throw CommandError(
        .failed, "plugin build: swift build --show-bin-path failed, so the path of the library is unknown")
    }
    let libraries = FolderListing.names(in: place).filter { $0.hasPrefix("lib") && $0.hasSuffix(".so") }
    guard !libraries.isEmpty else {
      throw CommandError(
        .failed, "plugin build: \(folder)/Package.swift has no library product of the type .dynamic")
    }
    return libraries.map { "\(place)/\($0)" }
  }

  /// A name for the build, which is the same for equal sources. The package uses it in the name of its module, so that
  /// a look-up of a type by name never finds a type of another build.
  var sourceHash: String {
    let hash = SourceTree.hash(of: ["\(folder)/Sources", "\(folder)/Package.swift"])
    return hash.map { String($0.hex.prefix(10)) } ?? "0"
  }
}
