import Glibc

/// The dynamic loader's message, without the private copy's path and with advice.
enum LoaderMessage {
  static func error(_ subject: PluginError.Subject, _ storedPath: String, _ message: String?) -> PluginError {
    let text = (message ?? "no reason given").replacing("\(storedPath): ", with: "")
    return PluginError(.loadFailed, subject, "cannot be loaded: \(text)", advice: advice(for: text, storedPath))
  }

  private static func advice(for text: String, _ storedPath: String) -> String? {
    if text.contains("undefined symbol") { return "link it with the library that defines the symbol" }
    if text.contains("cannot open shared object file") {
      return "install that library, or link it statically; one in the plugin's own folder is not copied along"
    }
    if text.contains("version `") { return "build it on this system" }
    if text.contains("failed to map segment") || text.contains("cannot map zero-fill pages") {
      return isExecutable(storedPath)
        ? "its segments do not fit into memory, or the file is damaged: build it again, or raise the limit (ulimit -v)"
        : "put the store on a file system that is not mounted noexec"
    }
    if text.contains("static TLS") { return "compile it with -ftls-model=global-dynamic" }
    return nil
  }

  /// Whether the file system that holds the copy allows code to be mapped.
  private static func isExecutable(_ path: String) -> Bool {
    var volume = statvfs()
    return statvfs(path, &volume) != 0 || UInt(volume.f_flag) & MountFlag.noExec == 0
  }
}
