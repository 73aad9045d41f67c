import Glibc
import SluiceJSON
@testable import SluicePluginFile
import SluiceTestKit
@testable import SluiceTrial
import Testing

@testable import SluicePluginHost

/// A trial that was passed is not repeated if nothing that decides it has changed.
struct RememberedTrialTests {
  /// A helper that writes a line to a file for each trial.
  private struct CountedHelper {
    let path: String
    private let log: String

    init(in folder: TemporaryDirectory) throws {
      log = folder.path("trials")
      path = try folder.write("#!/bin/sh\necho >>'\(log)'\nexec '\(TrialFixture.helper)' \"$@\"\n", to: "helper")
      chmod(path, 0o755)
    }

    /// The number of trials so far.
    var count: Int { (try? FileTree.read(log).count) ?? 0 }
  }

  private let folder: TemporaryDirectory
  private let helper: CountedHelper
  private let verdicts: VerdictList
  private let said = Watched<[String]>([])

  init() throws {
    folder = try TemporaryDirectory()
    helper = try CountedHelper(in: folder)
    verdicts = VerdictList(store: try PluginStore(at: folder.path("verdicts")))
  }

  private func trial(remembers: Bool = true) throws -> HelperTrial {
    let trial = HelperTrial(helper: helper.path, remembersVerdicts: remembers) { [said] _, words in
      said.update { $0.append(words) }
    }
    return try #require(trial).remembering(in: verdicts)
  }

  private func candidate(
    _ fixture: TrialFixture, _ configuration: JSONValue = [:], state: SavedState? = nil, hash: ContentHash? = nil
  ) -> TrialCandidate {
    var candidate = fixture.candidate(configuration: configuration, state: state)
    candidate.hash = hash ?? fixture.copy.hash
    return candidate
  }

  @Test func `the same content with the same configuration is tried out once`() async throws {
    let fixture = try await TrialFixture("minimal")
    for _ in 0..<3 { try await trial().examine(candidate(fixture)) }
    #expect(helper.count == 1)
    try await trial().examine(candidate(fixture, ["a": 1]))
    try await trial().examine(candidate(fixture, ["a": 2]))
    try await trial().examine(candidate(fixture, ["a": 1]))
    #expect(helper.count == 3)
    withExtendedLifetime(fixture) {}
  }

  @Test func `other content, a state and a place are tried out`() async throws {
    let fixture = try await TrialFixture("minimal")
    try await trial().examine(candidate(fixture))
    try await trial().examine(candidate(fixture, hash: ContentHash(of: Array("another byte".utf8))))
    #expect(helper.count == 2)
    let stateful = try await TrialFixture("keeps-state")
    let state = SavedState(text: "7", version: 1)
    for _ in 0..<2 { _ = try? await trial().examine(candidate(stateful, state: state)) }
    #expect(helper.count == 4)
    var unknown = candidate(fixture)
    unknown.hash = nil
    for _ in 0..<2 { try await trial().examine(unknown) }
    #expect(helper.count == 6)
    withExtendedLifetime((fixture, stateful)) {}
  }

  @Test func `a library that needs another one which this process has not mapped is always tried out`() async throws {
    let fixture = try await TrialFixture("minimal")
    var facts = fixture.facts
    #expect(!facts.needed.isEmpty)
    facts.needed.append("libnot-mapped-here.so.1")
    var unknown = TrialCandidate(
      path: fixture.product.path, copy: fixture.copy.path, facts: facts, instances: [], deadline: Patience.limit)
    unknown.hash = fixture.copy.hash
    for _ in 0..<2 { try await trial().examine(unknown) }
    #expect(helper.count == 2)
    withExtendedLifetime(fixture) {}
  }

  @Test func `names and places cannot be exchanged for each other`() throws {
    let helper = TrialHelper(path: helper.path)
    func hash(_ instances: [TrialCandidate.Instance]) throws -> ContentHash {
      var key = TrialFingerprint(helper, task: "trial")
      key.add(instances)
      return try #require(key.hash)
    }
    let one = TrialCandidate.Instance(name: "a", configuration: "{}")
    let place = TrialCandidate.Place(key: "request[0]", configuration: "{}")
    let variants = [
      [], [one], [one, one], [TrialCandidate.Instance(name: "a{}", configuration: "")],
      [TrialCandidate.Instance(name: "a", configuration: "{}", places: [place])],
      [TrialCandidate.Instance(name: "a", configuration: "{}", places: [place, place])],
      [one, TrialCandidate.Instance(name: "request[0]", configuration: "{}")],
    ]
    let hashes = try variants.map(hash)
    #expect(Set(hashes.map(\.hex)).count == variants.count)
    #expect(try variants.map(hash) == hashes)
    var other = TrialFingerprint(helper, task: "check")
    other.add([one])
    #expect(other.hash != hashes[1])
  }

  @Test func `another command tries out again`() async throws {
    let fixture = try await TrialFixture("minimal")
    try await trial().examine(candidate(fixture))
    let content = try FileTree.readText(helper.path)
    unlink(helper.path)
    try folder.write(content + "# changed\n", to: "helper")
    chmod(helper.path, 0o755)
    for _ in 0..<2 { try await trial().examine(candidate(fixture)) }
    #expect(helper.count == 2)
    withExtendedLifetime(fixture) {}
  }

  @Test func `a refusal and a warning are not remembered`() async throws {
    let refused = try await TrialFixture("create-misbehaves", ["DOES=abort()"])
    for _ in 0..<2 {
      await #expect(throws: PluginError.self) { try await trial().examine(candidate(refused)) }
    }
    #expect(helper.count == 2)
    let warned = try await TrialFixture("ends-badly", ["DOES=_exit(7)"])
    for _ in 0..<2 { try await trial().examine(candidate(warned)) }
    #expect(helper.count == 4 && said.value.count == 2)
    withExtendedLifetime((refused, warned)) {}
  }

  @Test func `without a memory, and with one that cannot be written, each trial is run`() async throws {
    let fixture = try await TrialFixture("minimal")
    for _ in 0..<2 { try await trial(remembers: false).examine(candidate(fixture)) }
    #expect(helper.count == 2)
    try folder.write("not a folder", to: "verdicts/passed")
    for _ in 0..<2 { try await trial().examine(candidate(fixture)) }
    #expect(helper.count == 4)
    withExtendedLifetime(fixture) {}
  }
}
