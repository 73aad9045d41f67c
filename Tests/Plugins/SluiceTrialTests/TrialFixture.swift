import Glibc
import SluiceJSON
@testable import SluicePluginFile
import SluiceTestKit
@testable import SluiceTrial
import Testing

@testable import SluicePluginHost

/// A compiled fixture that was copied into a store. Before a trial, a swap copies a library in the same way.
struct TrialFixture {
  static let helper = BuiltProducts.executable("sluice")

  let product: PluginCompiler.Product
  let copy: StoredPlugin
  let facts: LibraryFacts
  private let folder: TemporaryDirectory

  init(_ behaviour: String, _ defines: [String] = []) async throws {
    folder = try TemporaryDirectory()
    product = try await PluginCompiler.compile(behaviour, defines: defines)
    chmod(product.path, 0o755)
    let staged = try PluginLoader(store: PluginStore(at: folder.path("store"))).stage(product.path)
    (copy, facts) = (staged.copy, staged.facts)
  }

  func candidate(
    configuration: JSONValue = [:], state: SavedState? = nil, stateOwner: String? = nil,
    deadline: Duration = Patience.limit
  ) -> TrialCandidate {
    let instance = TrialCandidate.Instance(
      name: "stage", configuration: "\(configuration)", state: state, stateOwner: stateOwner)
    return TrialCandidate(
      path: product.path, copy: copy.path, facts: facts, instances: [instance], deadline: deadline)
  }

  /// Runs the trial. Returns the error with which it refuses the fixture, or nil if it accepts the fixture.
  func refusal(
    configuration: JSONValue = [:], state: SavedState? = nil, stateOwner: String? = nil,
    deadline: Duration = Patience.limit
  ) async throws -> PluginError? {
    let trial = try #require(HelperTrial(helper: Self.helper))
    defer { withExtendedLifetime(self) {} }
    do {
      try await trial.examine(
        candidate(configuration: configuration, state: state, stateOwner: stateOwner, deadline: deadline))
      return nil
    } catch { return error }
  }

  static func refusal(
    of behaviour: String, _ defines: [String] = [], configuration: JSONValue = [:], state: SavedState? = nil,
    stateOwner: String? = nil, deadline: Duration = Patience.limit
  ) async throws -> PluginError? {
    try await TrialFixture(behaviour, defines)
      .refusal(configuration: configuration, state: state, stateOwner: stateOwner, deadline: deadline)
  }
}
