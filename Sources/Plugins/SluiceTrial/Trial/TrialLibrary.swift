import SluicePluginFile
import SluicePluginHost

/// The library of a trial, mapped into the child process.
struct TrialLibrary {
  let generation: PluginGeneration
  let loaded: LoadedLibrary

  /// Loads the library up to the plugin's table. Code of the library runs from here on.
  init(_ request: TrialRequest, _ channel: TrialChannel, host: HostRuntime) throws(PluginError) {
    loaded = try Self.load(request, channel)
    channel.step("in its entry point")
    generation = try HostTable.enter(loaded, for: host)
  }

  static func load(_ request: TrialRequest, _ channel: TrialChannel) throws(PluginError) -> LoadedLibrary {
    channel.step("while its file was read")
    let staged = try StagedLibrary(borrowing: request.library, as: request.path)
    channel.step("while it was loaded (in a constructor, or a global initializer)")
    return try staged.load()
  }
}
