@testable import SluicePluginFile
import Testing

@testable import SluicePluginHost

struct LibraryFactsTests {
  private func facts(_ change: (inout LibraryFacts) -> Void = { _ in }) throws -> LibraryFacts {
    var facts = LibraryFacts(
      machine: "x86-64", entry: .defined, language: .c, hash: try #require(ContentHash(of: [])), sizeBytes: 0)
    facts.note = Self.note(1, 1)
    facts.needed = ["libjansson.so.4", "libc.so.6"]
    facts.exportedSymbolCount = 1
    facts.usesJansson = true
    change(&facts)
    return facts
  }

  private static func note(_ minimum: UInt32, _ maximum: UInt32) -> PluginNote? {
    let words = [minimum, maximum, 0]
    let bytes = words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
    return try? PluginNote(content: (bytes + [UInt8](repeating: 0, count: 32))[...])
  }

  private func reason(_ host: HostOffer = HostOffer(), _ change: (inout LibraryFacts) -> Void) throws -> String? {
    try facts(change).refusal(by: host, at: "a.so")?.reason
  }

  @Test func `a correct plugin is not refused and causes no warning`() throws {
    #expect(try facts().refusal(at: "a.so") == nil)
    #expect(try facts().warnings.isEmpty)
  }

  @Test func `if the ABI ranges of plugin and host are disjoint, the error names both`() throws {
    #expect(try reason { $0.note = Self.note(2, 2) } == "built for ABI 2, this host speaks ABI 1")
    let host = HostOffer(abi: 3...5)
    #expect(try reason(host) { $0.note = Self.note(1, 2) } == "built for ABI 1 to 2, this host speaks ABI 3 to 5")
    #expect(try reason(host) { $0.note = Self.note(1, 3) } == nil)
  }

  @Test func `the error names required features that the host lacks or does not know`() throws {
    func reason(_ names: String..., by host: HostOffer = HostOffer()) throws -> String? {
      let required = try RequiredFeatures(sections: names.map { RequiredFeatures.prefix + $0 })
      return try self.reason(host) { $0.requiredFeatures = required }
    }
    let less = HostOffer(host: "proxy", features: .all.subtracting([.suspend, .timers]))
    #expect(try reason("retry") == nil)
    #expect(
      try reason("frobnicate") == "requires the host feature \"frobnicate\", which the host sluice does not offer")
    #expect(
      try reason("suspend", "retry", "timers", by: less)
        == "requires the host features \"suspend\", \"timers\", which the host proxy does not offer")
  }

  @Test func `an unusable note is refused, and the error says why`() throws {
    let error = try facts { $0.noteFault = "its version is wrong" }.refusal(at: "a.so")
    #expect(error?.code == .noNote)
    #expect(error?.reason == "describes itself in a way that cannot be used: its version is wrong")
  }

  @Test func `a library that does not use the same jansson as the host is refused`() throws {
    #expect(try reason { $0.needed = ["libc.so.6"] } == "uses jansson without naming libjansson.so.4")
    #expect(
      try reason { $0.needed = ["libjansson.so.5"] } == "needs libjansson.so.5, but this host uses libjansson.so.4")
    #expect(
      try reason {
        $0.needed = []
        $0.usesJansson = false
      } == nil)
  }

  @Test func `a Swift runtime can be shared or the library's own, but not a mixture of both`() throws {
    #expect(try reason { $0.swiftRuntime = .shared } == nil)
    #expect(try reason { $0.swiftRuntime = .own } == nil)
    #expect(try facts { $0.swiftRuntime = .own }.warnings.isEmpty)
    let error = try facts { $0.swiftRuntime = .mixed(symbol: "swift_once") }.refusal(at: "a.so")
    #expect(error?.code == .mixedRuntimes)
    #expect(
      error?.description.contains(
        "(they share swift_once); build it with sluice plugin build --static-stdlib") == true)
  }

  @Test func `unique symbols and private libraries cause warnings`() throws {
    let warnings = try facts {
      $0.uniqueSymbols = ["_ZN1aE"]
      $0.privateLibraries = ["libhelper.so"]
    }.warnings
    #expect(warnings.contains { $0.contains("_ZN1aE") })
    #expect(warnings.contains { $0.contains("needs libhelper.so from its own folder") })
  }
}
