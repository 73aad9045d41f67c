import Glibc
import SluiceJSON
@testable import SluicePluginImage
import SluiceTestKit
@testable import SluiceTrial
import Testing

@testable import SluicePluginHost

/// A compiled fixture in a store, as a swap has it before it asks its probe.
struct ProbeFixture {
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
  ) -> ProbeCandidate {
    let instance = ProbeCandidate.Instance(
      name: "stage", configuration: "\(configuration)", state: state, stateOwner: stateOwner)
    return ProbeCandidate(
      path: product.path, copy: copy.path, facts: facts, instances: [instance], deadline: deadline)
  }

  /// Why the probe refuses the fixture; nil where it does not.
  func refusal(
    configuration: JSONValue = [:], state: SavedState? = nil, stateOwner: String? = nil,
    deadline: Duration = Patience.limit
  ) async throws -> PluginError? {
    let probe = try #require(HelperProbe(helper: Self.helper))
    defer { withExtendedLifetime(self) {} }
    do {
      try await probe.examine(
        candidate(configuration: configuration, state: state, stateOwner: stateOwner, deadline: deadline))
      return nil
    } catch { return error }
  }

  static func refusal(
    of behaviour: String, _ defines: [String] = [], configuration: JSONValue = [:], state: SavedState? = nil,
    stateOwner: String? = nil, deadline: Duration = Patience.limit
  ) async throws -> PluginError? {
    try await ProbeFixture(behaviour, defines)
      .refusal(configuration: configuration, state: state, stateOwner: stateOwner, deadline: deadline)
  }
}
