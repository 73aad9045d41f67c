import SluicePluginFile
import SluicePluginHost
import SluiceTestKit

/// What the preflight says about the plugins in `Tests/Fixtures/Plugins`.
enum FixturePreflight {
  /// Returns why the preflight refuses a fixture, or nil if it does not.
  static func refusal(_ behaviour: String, defines: [String] = [], flags: [String] = []) async throws -> PluginError? {
    let product = try await PluginCompiler.compile(behaviour, defines: defines, flags: flags)
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
    let product = try await PluginCompiler.compile(behaviour, defines: defines, flags: flags)
    return try withExtendedLifetime(product) { try Preflight.facts(of: LibraryImage(reading: product.path)) }
  }
}

extension PluginError {
  /// Returns whether the message contains each of the texts.
  func says(_ words: String...) -> Bool { words.allSatisfy { description.contains($0) } }
}
