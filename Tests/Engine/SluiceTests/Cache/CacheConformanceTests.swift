import Sluice
import SluiceJSON
import SluiceTestKit
import Testing

/// Runs the shipped cache in a real engine through the public test suite for HTTP caches, http-tests/cache-tests. Its
/// scenarios are rewritten in `Tests/Fixtures/Cases/cache`.
@Suite struct CacheConformanceTests {
  @Test(arguments: CacheCases.groups, CacheCase.Sharing.allCases)
  func `issue 3.4: the cache passes the required and the chosen other cases of`(
    group: String, sharing: CacheCase.Sharing
  ) async throws {
    let cases = try CacheCases.read(group)
    let engine = try CacheEngine.make(isShared: sharing == .shared)
    for row in cases.cases where row.only == nil || row.only == sharing {
      let complaints = try await CacheScenario(row).play(engine)
      for complaint in complaints { Issue.record("\(cases.about): \(complaint)") }
    }
    await engine.shutdown()
  }

  @Test func `each required case has a row, or a reason why it has none`() throws {
    let rows = try CacheCases.groups.flatMap { try CacheCases.read($0).cases }
    let left: CacheCasesLeftOut = try JSONValue(
      parsing: FileTree.readText(RepositoryRoot.path("Tests/Fixtures/Cases/cache/left-out.json"))
    ).decode(unknownKeys: .refused)
    let required = rows.filter { ($0.kind ?? .required) == .required }
    let leftRequired = left.leftOut.filter { $0.kind == "required" }.flatMap(\.ids)
    // The suite of July 2026 has 153 required cases that are not for CDNs.
    #expect(required.count == 153)
    #expect(leftRequired.isEmpty)
    #expect(rows.count { $0.kind == .optimal } == 83)
    #expect(Set(rows.map(\.id)).count == rows.count)
    #expect(Set(rows.map(\.id)).isDisjoint(with: left.leftOut.flatMap(\.ids)))
    #expect(left.leftOut.allSatisfy { !$0.reason.isEmpty })
  }
}

/// Makes engines whose first stage is the built plugin.
enum CacheEngine {
  static func make(
    _ config: String = "{}", loops: Int = 1, isShared: Bool = false,
    log: @escaping @Sendable (LogLine) -> Void = { _ in }
  ) throws -> Engine {
    var configuration = try configuration(config, loops: loops)
    configuration.isShared = isShared
    return try Engine(configuration, log: log)
  }

  private static func configuration(_ config: String, loops: Int) throws -> Configuration {
    try Configuration(
      text: Array(
        """
        {"plugins": {"cache": {"library": "\(BuiltProducts.library("cache"))", "config": \(config)}},
         "request": ["cache"], "response": ["cache"], "transport": {"loops": \(loops)}}
        """.utf8))
  }
}
