import CSluice
import Glibc
@testable import SluicePluginFile
import SluiceTestKit

@testable import SluicePluginHost

/// Compiled fixture plugins, and a plugin store for one test.
struct LibraryFixture {
  let folder: TemporaryDirectory
  let store: PluginStore

  init() throws {
    folder = try TemporaryDirectory()
    store = try PluginStore(at: folder.path("store"))
  }

  var loader: PluginLoader { PluginLoader(store: store) }

  /// Builds `Tests/Fixtures/Plugins/<behaviour>`. Independent of the umask, only the owner may write the library.
  static func compile(
    _ behaviour: String, defines: [String] = [], flags: [String] = []
  ) async throws -> PluginCompiler.Product {
    let product = try await PluginCompiler.compile(behaviour, defines: defines, flags: flags)
    chmod(product.path, 0o755)
    return product
  }

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

  /// Returns why preflight refuses a compiled fixture, or nil if it does not.
  static func refusal(_ behaviour: String, defines: [String] = [], flags: [String] = []) async throws -> PluginError? {
    let product = try await compile(behaviour, defines: defines, flags: flags)
    return withExtendedLifetime(product) { refusal(ofFile: product.path) }
  }

  static func refusal(ofFile path: String) -> PluginError? {
    do {
      _ = try Preflight.facts(of: LibraryImage(reading: path))
      return nil
    } catch {
      return error
    }
  }

  static func facts(_ behaviour: String, defines: [String] = [], flags: [String] = []) async throws -> LibraryFacts {
    let product = try await compile(behaviour, defines: defines, flags: flags)
    return try withExtendedLifetime(product) { try Preflight.facts(of: LibraryImage(reading: product.path)) }
  }
}

extension PluginError {
  /// Returns whether the message contains each of the texts.
  func says(_ words: String...) -> Bool { words.allSatisfy { description.contains($0) } }
}
