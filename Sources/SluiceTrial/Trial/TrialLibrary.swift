import SluicePluginHost
import SluicePluginImage

/// The library of a trial, mapped into the child process.
struct TrialLibrary {
  let generation: PluginGeneration
  let loaded: LoadedLibrary

  /// Loads the library up to the plugin's table. Code of the library runs from here on.
  init(_ request: TrialRequest, _ channel: TrialChannel, host: HostRuntime) throws(PluginError) {
    loaded = try Self.load(request, channel)
    channel.step("in its entry point")
    generation = try Self.enter(loaded, host)
  }

  static func load(_ request: TrialRequest, _ channel: TrialChannel) throws(PluginError) -> LoadedLibrary {
    channel.step("while its file was read")
    let image = try LibraryImage(reading: request.library)
    // The host has already checked what the configuration allows.
    let facts = try Preflight.facts(of: image, for: HostOffer(allowed: Set(LibraryHazard.allCases)))
    let copy = try StoredPlugin.borrowed(image)
    channel.step("while it was loaded (in a constructor, or a global initializer)")
    return try LoadedLibrary.load(copy, facts: facts, path: request.path)
  }

  static func enter(_ library: LoadedLibrary, _ host: HostRuntime) throws(PluginError) -> PluginGeneration {
    try HostTable.withEntryTable(for: host) { table throws(PluginError) in
      try PluginEntry.call(library, host: table)
    }
  }
}
