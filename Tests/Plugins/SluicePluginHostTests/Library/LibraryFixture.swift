import CSluice
@testable import SluicePluginFile
import SluiceTestKit

@testable import SluicePluginHost

/// A plugin store for one test, and the way from a library to its entry point.
struct LibraryFixture {
  let folder: TemporaryDirectory
  let store: PluginStore

  init() throws {
    folder = try TemporaryDirectory()
    store = try PluginStore(at: folder.path("store"))
  }

  var loader: PluginLoader { PluginLoader(store: store) }

  /// Loads a library and calls its entry point.
  func generation(of path: String) async throws -> PluginGeneration {
    try Self.enter(try loader.stage(path).load())
  }

  static func enter(_ library: LoadedLibrary) throws -> PluginGeneration {
    var host = sluice_host()
    host.size = UInt32(MemoryLayout<sluice_host>.size)
    host.abi = 1
    return try PluginEntry.call(library, host: &host)
  }
}

extension PluginError {
  /// Returns whether the message contains each of the texts.
  func says(_ words: String...) -> Bool { words.allSatisfy { description.contains($0) } }
}
